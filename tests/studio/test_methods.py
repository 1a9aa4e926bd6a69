"""The method of a new run: by default, from the command line, and by request."""

import pytest
from fastapi.testclient import TestClient

from tests.helpers.studio_server import Small
from zorank import InvalidInput
from zorank.studio import create_app
from zorank.studio.catalog import select_method
from zorank.studio.methods import METHODS, MethodSpec

TOKEN = "t0ken"


@pytest.fixture
def studio(store):
    def start(method=None):
        app = create_app(store, {"small": Small}, TOKEN, hosts=("testserver",), method=method)
        return TestClient(app, headers={"Authorization": f"Bearer {TOKEN}"})

    return start


def optimizer(client, **body):
    made = client.post("/api/runs", json={"renderer": "small", "m": 4, **body})
    assert made.status_code in (200, 201), made.text
    return client.get(f"/api/runs/{made.json()['id']}").json()["optimizer"]


def test_algorithm_3_is_made_with_its_settings(studio):
    made = optimizer(studio(), method="zo-ranksgd-memory", method_settings={"mu": 0.35, "step": 2})
    assert made["name"] == "pick-start"
    assert made["method"] == "zo-ranksgd-memory"
    assert made["options"] == {"m": 4, "space": "gaussian", "mu": 0.35, "step": 2.0}


def test_algorithm_3_asks_for_a_ranking_and_for_the_best_by_turns(studio):
    client = studio()
    made = {"renderer": "small", "m": 4, "method": "zo-ranksgd-memory"}
    run_id = client.post("/api/runs", json=made).json()["id"]
    asked = []
    for index in range(5):
        asked.append(client.get(f"/api/runs/{run_id}/round").json()["question"])
        answer = {"order": [[1], [0]] if asked[-1] == "rank" else [[1]]}
        client.post(f"/api/runs/{run_id}/rounds/{index}/answer", json=answer).raise_for_status()
    assert asked == ["start", "rank", "best", "rank", "best"]


@pytest.mark.parametrize("method", ["rank-process", "rank-looks"])
def test_preference_models_take_the_number_of_channels(studio, method):
    client = studio()
    assert optimizer(client, method=method)["channels"] == 0
    made = optimizer(client, method=method, method_settings={"channels": 1})
    assert made["channels"] == 1


def test_the_studios_method_is_the_default_and_can_be_replaced(studio):
    client = studio(MethodSpec("zo-ranksgd-memory", {"gamma": 0.25}))
    assert optimizer(client)["options"]["gamma"] == 0.25
    named = optimizer(client, method="zo-ranksgd-memory", method_settings={"step": 2})
    assert (named["options"]["gamma"], named["options"]["step"]) == (0.25, 2)
    assert optimizer(client, method="rank-process")["name"] == "rank-process"
    described = {method["name"]: method for method in client.get("/api/methods").json()}
    assert list(described) == list(METHODS)
    assert [name for name, method in described.items() if method["default"]] == [
        "zo-ranksgd-memory"
    ]
    defaults = {s["name"]: s["default"] for s in described["zo-ranksgd-memory"]["settings"]}
    assert defaults == {"mu": 0.1, "step": 1.0, "gamma": 0.25}  # the others are the paper's


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"method": "rank-process", "method_settings": {"mu": 1}}, "has no setting 'mu'"),
        ({"method_settings": {"mu": 1}}, "method_settings needs a method"),
        ({"method": "zo-ranksgd-memory", "method_settings": {"mu": -1}}, "mu must be a finite"),
        ({"method": "zo-ranksgd-memory", "method_settings": {"m": 5}}, "has no setting 'm'"),
        ({"method": "zo-ranksgd-memory", "method_settings": {"mu": "x"}}, "method_settings"),
        ({"method": "zo-ranksgd-memory", "method_settings": {"mu": True}}, "method_settings"),
        (
            {"method": "rank-process", "method_settings": {"channels": 99}},
            "latents of 99 channels",
        ),
        (
            {"method": "rank-looks", "method_settings": {"channels": 0.5}},
            "channels must be a whole",
        ),
        ({"method": "cma-es"}, "there is no method named 'cma-es'"),
    ],
)
def test_wrong_methods_and_settings_are_refused(studio, body, words):
    client = studio()
    refused = client.post("/api/runs", json={"renderer": "small", **body})
    assert refused.status_code == 422
    assert words in refused.json()["detail"]
    assert client.get("/api/runs").json() == []


@pytest.mark.parametrize(
    ("name", "settings", "words"),
    [
        ("zo-ranksgd", {}, "did you mean zo-ranksgd-memory"),
        (None, {"mu": 1}, "--method-option needs --method"),
        ("zo-ranksgd-memory", {"gamma": 2}, "gamma must be"),
        ("zo-ranksgd-memory", {"mu": "wide"}, "mu must be a number, found 'wide'"),
        ("zo-ranksgd-memory", {"mu": True}, "mu must be a number"),
    ],
)
def test_the_command_line_refuses_wrong_methods_at_once(name, settings, words):
    with pytest.raises(InvalidInput, match=words):
        select_method(name, settings)


def test_without_a_method_the_renderer_decides():
    assert select_method(None, {}) is None
