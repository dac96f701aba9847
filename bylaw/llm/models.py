"""pydantic-ai behind the port: OpenAI and whatever speaks like it, Azure, Ollama, vLLM, Anthropic, Bedrock.

The extra `bylaw-policies[llm]`, imported only when a model is asked for. Nobody retries here, redirects are not
followed, an answer's size is bounded, and a request that is late is abandoned even where its library would wait on.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import CancelledError
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeVar

from bylaw.errors import UsageError
from bylaw.llm.port import Completion, Deadline, NoAnswer, Prompt, in_words
from bylaw.llm.wanted import Given

if TYPE_CHECKING:
    from collections.abc import Coroutine

    import httpx2
    from openai import AsyncOpenAI
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models import Model as Client

    R = TypeVar("R")

_MAX_BYTES = 1024 * 1024  # of one answer; a page of JSON has a few thousand
_NO_KEY = "none"  # servers in one's own house often want none; a library would look for one in the environment


class Model:
    """A model of one of the SERVICES. Safe to use from several threads: its requests run on a loop of its own."""

    def __init__(self, given: Given) -> None:
        service, _, name = given.model.partition(":")
        if service not in SERVICES or not name:
            known = ", ".join(sorted(SERVICES))
            raise UsageError(f"`{given.model}` is no language model", f"write SERVICE:NAME, with one of {known}")
        if find_spec("pydantic_ai") is None:
            raise UsageError("the libraries for language models are not installed", "install `bylaw-policies[llm]`")
        import asyncio  # not at the top: a process that asks no model needs none of it

        self.name = given.model
        self._client = _opened(service, name, given)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="bylaw-llm", daemon=True)
        self._thread.start()

    def complete(self, prompt: Prompt, deadline: Deadline) -> Completion:
        """What the model says. Raises NoAnswer."""
        from pydantic_ai.messages import TextPart

        response = self._within(self._request(prompt, max(deadline.left, 0.001)), deadline)
        text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
        return Completion(text, self.name)

    def close(self) -> None:
        """Stop the loop; what still waits on it is given up."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=1)

    async def _request(self, prompt: Prompt, seconds: float) -> ModelResponse:
        import asyncio

        from pydantic_ai.messages import InstructionPart, ModelRequest, UserPromptPart
        from pydantic_ai.models import ModelRequestParameters
        from pydantic_ai.output import OutputObjectDefinition
        from pydantic_ai.settings import ModelSettings

        system = f"{prompt.system}\n\n{in_words(prompt.schema)}"
        is_held = bool(self._client.profile.get("supports_json_schema_output", False))
        wanted = ModelRequestParameters(
            output_mode="native" if is_held else "text",
            output_object=OutputObjectDefinition(dict(prompt.schema), name="answer") if is_held else None,
            instruction_parts=[InstructionPart(content=system)],
        )
        # what is sent is the prompt and nothing that a library would add to it
        settings = ModelSettings(temperature=0, max_tokens=prompt.max_tokens, framing_announcement="never")
        said = ModelRequest(parts=[UserPromptPart(content=prompt.user)], instructions=system)
        async with asyncio.timeout(seconds):
            return await self._client.request([said], settings, wanted)

    def _within(self, work: Coroutine[Any, Any, R], deadline: Deadline) -> R:
        """The result of *work*, or NoAnswer. A thread that a library blocks is left behind."""
        import asyncio

        from pydantic_ai import exceptions as said

        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result(max(deadline.left, 0.001))
        except (TimeoutError, CancelledError, said.ModelTimeoutError):
            future.cancel()
            raise NoAnswer("late") from None
        except said.ModelConnectionError as error:
            raise NoAnswer("late" if deadline.left <= 0 else "unreachable", type(error).__name__) from None
        except said.ModelHTTPError as error:
            is_theirs = error.status_code == 429 or error.status_code >= 500
            raise NoAnswer("overloaded" if is_theirs else "refused", str(error.status_code)) from None
        except _unsent() as error:
            raise NoAnswer("unreachable", type(error).__name__) from None
        except _foreign() as error:  # what is no answer in a library's eyes is none in ours: the plain writer speaks
            raise NoAnswer("unreadable", type(error).__name__) from None


def _opened(service: str, name: str, given: Given) -> Client:
    """The client of a service. Raises UsageError where a library cannot make one of what it is given."""
    try:
        return SERVICES[service](name, given)
    except (*_unsent(), *_foreign()) as error:
        raise UsageError(
            f"the language model `{given.model}` cannot be asked as it is configured ({type(error).__name__})",
            "see BYLAW_LLM_URL and BYLAW_LLM_REGION, and for Bedrock the profile of AWS",
        ) from None


# What the libraries below raise where a request never leaves: no credentials, an address that is none.
_UNSENT = (("botocore.exceptions", "BotoCoreError"), ("httpx2", "InvalidURL"), ("httpx2", "HTTPError"))


def _unsent() -> tuple[type[Exception], ...]:
    """What a library that is loaded raises of a request that it could not send."""
    loaded = ((sys.modules[module], name) for module, name in _UNSENT if module in sys.modules)
    return (ExceptionGroup, *(getattr(module, name) for module, name in loaded))


def _foreign() -> tuple[type[Exception], ...]:
    """What the libraries raise when an answer makes no sense to them."""
    from pydantic_ai.exceptions import AgentRunError, UserError

    return AgentRunError, UserError, ValueError, TypeError, LookupError, AttributeError, OSError, RuntimeError, _TooLong


# ---- the services ---------------------------------------------------------------------------------------------------


class _TooLong(Exception):
    """An answer beyond what is read."""


def _http() -> httpx2.AsyncClient:
    """A client that follows no redirect, and stops reading where an answer is too long or packed."""
    import httpx2

    class Bounded(httpx2.AsyncByteStream):
        def __init__(self, stream: httpx2.AsyncByteStream) -> None:
            self._stream = stream

        async def __aiter__(self) -> AsyncIterator[bytes]:
            left = _MAX_BYTES
            async for chunk in self._stream:
                left -= len(chunk)
                if left < 0:
                    raise _TooLong
                yield chunk

        async def aclose(self) -> None:
            await self._stream.aclose()

    async def bound(response: httpx2.Response) -> None:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise _TooLong
        assert isinstance(response.stream, httpx2.AsyncByteStream)  # an asynchronous client has no other
        response.stream = Bounded(response.stream)

    headers = {"Accept-Encoding": "identity"}
    return httpx2.AsyncClient(headers=headers, event_hooks={"response": [bound]}, follow_redirects=False)


def _openai(name: str, given: Given) -> Client:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    sdk = _openai_sdk(given, "https://api.openai.com/v1")
    return OpenAIChatModel(name, provider=OpenAIProvider(openai_client=sdk))


def _ollama(name: str, given: Given) -> Client:
    from pydantic_ai.models.ollama import OllamaModel
    from pydantic_ai.providers.ollama import OllamaProvider

    sdk = _openai_sdk(given, "http://127.0.0.1:11434/v1")
    return OllamaModel(name, provider=OllamaProvider(openai_client=sdk))


def _vllm(name: str, given: Given) -> Client:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.vllm import VLLMProvider

    sdk = _openai_sdk(given, "http://127.0.0.1:8000/v1")
    return OpenAIChatModel(name, provider=VLLMProvider(openai_client=sdk))


def _openai_sdk(given: Given, url: str) -> AsyncOpenAI:
    from openai import AsyncOpenAI

    return AsyncOpenAI(api_key=given.key or _NO_KEY, base_url=given.url or url, max_retries=0, http_client=_http())


def _azure(name: str, given: Given) -> Client:
    from openai import AsyncAzureOpenAI
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.azure import AzureProvider

    sdk = AsyncAzureOpenAI(
        api_key=given.key or _NO_KEY,
        azure_endpoint=_needed(given.url, "BYLAW_LLM_URL", given),
        api_version=_needed(given.api_version, "BYLAW_LLM_API_VERSION", given),
        max_retries=0,
        http_client=_http(),
    )
    return OpenAIChatModel(name, provider=AzureProvider(openai_client=sdk))


def _anthropic(name: str, given: Given) -> Client:
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    url = given.url or "https://api.anthropic.com"
    sdk = AsyncAnthropic(api_key=given.key or _NO_KEY, base_url=url, max_retries=0, http_client=_http())
    return AnthropicModel(name, provider=AnthropicProvider(anthropic_client=sdk))


def _bedrock(name: str, given: Given) -> Client:
    """Signed by the credentials of the environment that AWS's own library finds."""
    import boto3  # type: ignore[import-untyped]  # AWS ships no types
    from botocore.config import Config  # type: ignore[import-untyped]  # AWS ships no types
    from pydantic_ai.models.bedrock import BedrockConverseModel
    from pydantic_ai.providers.bedrock import BedrockProvider

    config = Config(retries={"total_max_attempts": 1}, connect_timeout=5, read_timeout=30)
    region = _needed(given.region, "BYLAW_LLM_REGION", given)
    session = boto3.Session()  # of its own: the library keeps what its first one was opened with for the whole process
    sdk = session.client("bedrock-runtime", region_name=region, endpoint_url=given.url, config=config)
    return BedrockConverseModel(name, provider=BedrockProvider(bedrock_client=sdk))


def _needed(value: str | None, variable: str, given: Given) -> str:
    if not value:
        raise UsageError(f"the language model `{given.model}` needs `{variable}`")
    return value


SERVICES: Mapping[str, Callable[[str, Given], Client]] = {
    "anthropic": _anthropic,
    "azure": _azure,
    "bedrock": _bedrock,
    "ollama": _ollama,
    "openai": _openai,
    "vllm": _vllm,
}
