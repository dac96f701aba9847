# bylaw as a server or a check: built with the pinned and hashed tools of .ci/release.lock, run with ci/requirements.lock.
#   docker build -t bylaw .
#   docker run --rm -v "$PWD:/policies:ro" bylaw check --root /policies
FROM python:3.12-slim AS build
WORKDIR /src
COPY .ci/release.lock ci/requirements.lock /locks/
RUN python -m venv /tools \
 && /tools/bin/pip install --no-cache-dir --require-hashes --only-binary :all: -r /locks/release.lock \
 && python -m venv /app \
 && /app/bin/pip install --no-cache-dir --require-hashes --only-binary :all: -r /locks/requirements.lock
COPY pyproject.toml README.md LICENSE ./
COPY docs docs
COPY bylaw bylaw
COPY ci ci
COPY bot bot
RUN /tools/bin/python -m build --wheel --no-isolation --outdir /dist . \
 && /app/bin/pip install --no-cache-dir --no-deps --no-index /dist/*.whl

FROM python:3.12-slim
RUN apt-get update \
 && apt-get install -y --no-install-recommends git \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --uid 10001 --home-dir /state --create-home bylaw
COPY --from=build /app /app
ENV PATH=/app/bin:$PATH BYLAW_CACHE=/state/cache PYTHONDONTWRITEBYTECODE=1
USER 10001
WORKDIR /state
ENTRYPOINT ["bylaw"]
CMD ["--help"]
