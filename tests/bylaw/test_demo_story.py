"""The first command of the README: the whole story, without a key or a server."""

import pytest


@pytest.mark.slow
def test_the_story_is_told_to_its_end(bylaw, tmp_path):
    done = bylaw("demo", cwd=tmp_path)
    assert done.code == 0, done.err
    assert "contradict each other" in done.out + done.err
