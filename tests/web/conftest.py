"""Runs to look at, and someone who asks for pages."""

from __future__ import annotations

from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from web_samples import folder_of_runs

from swefuse.web.app import create_app


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder_of_runs(tmp_path_factory.mktemp("web") / "runs")


@pytest.fixture(scope="session")
def client(runs: Path) -> TestClient:
    return TestClient(create_app([runs]), base_url="http://127.0.0.1:8765")
