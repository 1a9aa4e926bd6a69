"""A folder in the studio: runs, orders, files that come and go."""

import csv
import io

import numpy as np
import pytest
from fastapi.testclient import TestClient

from tests.helpers.folders import write_pictures
from zorank.oracles.pictures import decode
from zorank.renderers.folder import folder_kind
from zorank.studio import create_app
from zorank.types import Exhibit

TOKEN = "a-token-of-the-owner"


@pytest.fixture
def open_studio(store):
    """Opens a studio over a folder, as `zorank studio --folder` does."""

    def opened(path):
        kind, _ = folder_kind(str(path))
        app = create_app(store, {kind.name: kind}, TOKEN, hosts=("testserver",))
        return TestClient(app, headers={"Authorization": f"Bearer {TOKEN}"})

    return opened


def new_run(client, **settings):
    response = client.post("/api/runs", json={"renderer": "folder", "seed": 1, **settings})
    assert response.status_code == 201, response.text
    return response.json()["id"]


def brightness(response):
    assert response.status_code == 200, response.text
    return np.asarray(decode(Exhibit("image/jpeg", response.content))).mean()


def answer(client, run_id):
    """Rank the waiting round, brighter first; what cannot be shown is left unranked."""
    waiting = client.get(f"/api/runs/{run_id}/round").json()
    levels = {}
    for exhibit in waiting["exhibits"]:
        found = client.get(exhibit["url"])
        if found.status_code == 200:
            levels[exhibit["position"]] = brightness(found)
    order = [[p] for p in sorted(levels, key=lambda p: -levels[p])]
    url = f"/api/runs/{run_id}/rounds/{waiting['index']}/answer"
    assert client.post(url, json={"order": order}).status_code == 200
    return len(waiting["exhibits"]) - len(levels)


def test_pages_of_a_folder_do_not_speak_of_making_anything(open_studio, tmp_path):
    client = open_studio(write_pictures(tmp_path / "greys", 8))
    run_id = new_run(client)
    home, new, run = (client.get(path).text for path in ("/", "/new", f"/runs/{run_id}"))
    assert "Put them in order." in home
    assert "What shall we rank?" in new
    assert 'hidden>\n        <label for="method">' in new
    assert "When the order is settled, open the result." in run
    for text in (home, new, run):
        assert not any(word in text for word in ("What shall we make", "download the best</span>"))
        assert "Pick one to start from" not in text


def test_a_small_set_is_shown_again_with_a_reason(open_studio, tmp_path):
    client = open_studio(write_pictures(tmp_path / "greys", 4))
    run_id = new_run(client)
    answer(client, run_id)
    said = client.get(f"/api/runs/{run_id}").json()["words"]
    assert said[-1].startswith("The same ones are shown again")
    while not (now := client.get(f"/api/runs/{run_id}").json())["could_stop"]:
        answer(client, run_id)
    assert not any("shown again" in sentence for sentence in now["words"])
    assert now["words"][-1].endswith("You could stop here.")


def test_a_folder_is_ranked_over_http_and_printed(open_studio, tmp_path, printed):
    client = open_studio(write_pictures(tmp_path / "greys", 8))
    run_id = new_run(client)
    assert client.get(f"/api/runs/{run_id}").json()["best"] is None
    assert client.get(f"/api/runs/{run_id}/order").json()["compared"] == 0
    for _ in range(7):
        assert answer(client, run_id) == 0
    info = client.get(f"/api/runs/{run_id}").json()
    assert (info["items"], info["m"], info["title"]) == (8, 6, "8 pictures of greys")
    assert info["optimizer"] == {"name": "rank-items", "items": 8, "m": 6, "k": None}
    found = client.get(f"/api/runs/{run_id}/order").json()
    names = [f"grey {level}.png" for level in range(7, -1, -1)]
    assert [place["name"] for place in found["places"]] == names
    assert found["places"][-1]["ahead"] is None
    assert all(place["ahead"] > 0.5 for place in found["places"][:-1])
    assert (found["compared"], found["rounds"], found["level"]) == (8, 7, 0.95)
    shades = [brightness(client.get(place["url"])) for place in found["places"]]
    assert shades == sorted(shades, reverse=True)
    assert brightness(client.get(info["best"])) == shades[0]
    small = client.get(found["places"][0]["url"] + "&size=64")
    assert decode(Exhibit("image/jpeg", small.content)).size == (48, 48)  # never enlarged
    text = printed("runs", "order", run_id, "--csv", "--store", tmp_path / "runs.db")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["name"] for row in rows] == names
    assert float(rows[0]["score"]) == pytest.approx(found["places"][0]["score"], rel=1e-4)
    shown = printed("runs", "order", run_id, "--store", tmp_path / "runs.db")
    assert "of pairs are expected to be in the right order" in shown


def test_the_order_becomes_settled_and_the_page_says_so(open_studio, tmp_path):
    client = open_studio(write_pictures(tmp_path / "greys", 4))
    run_id = new_run(client)
    for _ in range(25):
        answer(client, run_id)
    info = client.get(f"/api/runs/{run_id}").json()
    assert info["could_stop"] is True
    assert info["words"][-1].endswith("You could stop here.")
    assert client.get(f"/api/runs/{run_id}/order").json()["settled"] is True


def test_raters_see_the_order_without_names(open_studio, tmp_path):
    client = open_studio(write_pictures(tmp_path / "greys", 3))
    run_id = new_run(client)
    answer(client, run_id)
    link = client.post(f"/api/runs/{run_id}/invite").json()["url"]
    headers = {"Authorization": f"Bearer {link.partition('token=')[2]}"}
    places = client.get(f"/api/runs/{run_id}/order", headers=headers).json()["places"]
    assert [place["name"] for place in places] == ["", "", ""]
    assert client.get(places[0]["url"], headers=headers).status_code == 200
    assert client.get(f"/api/runs/{run_id}/items/3").status_code == 404


def test_a_run_goes_on_without_a_file_that_is_gone(open_studio, tmp_path):
    folder = write_pictures(tmp_path / "greys", 8)
    run_id = new_run(open_studio(folder))
    (folder / "grey 5.png").unlink()
    client = open_studio(folder)  # the studio was started again
    note = client.get(f"/api/runs/{run_id}").json()["note"]
    assert "grey 5.png is missing or changed since this run began" in note
    failures = [answer(client, run_id) for _ in range(12)]
    assert sum(failures) <= 2  # after two rounds it is shown no more
    found = client.get(f"/api/runs/{run_id}/order").json()["places"]
    names = [place["name"] for place in found if place["name"] != "grey 5.png"]
    assert names == [f"grey {level}.png" for level in (7, 6, 4, 3, 2, 1, 0)]
    gone = next(place for place in found if place["name"] == "grey 5.png")
    refused = client.get(gone["url"])
    assert refused.status_code == 422
    assert "'grey 5.png' is missing from the folder" in refused.json()["detail"]


def test_a_run_of_another_folder_says_which_folder_it_needs(open_studio, tmp_path):
    run_id = new_run(open_studio(write_pictures(tmp_path / "a", 3)))
    for number in (1, 2):
        (tmp_path / f"{number}.txt").write_text(str(number))
    client = open_studio(tmp_path)
    [card] = client.get("/api/runs").json()
    assert "none of the 3 pictures of this run is in" in card["problem"]
    assert client.get(f"/api/runs/{run_id}").status_code == 422


def test_options_of_a_request_cannot_name_another_folder(open_studio, tmp_path):
    secret = write_pictures(tmp_path / "secret", 3)
    manifest = folder_kind(str(secret))[0].defaults["manifest"]
    write_pictures(tmp_path / "own", 2)
    client = open_studio(tmp_path / "own")
    options = {"folder": str(secret), "manifest": manifest}
    made = client.post("/api/runs", json={"renderer": "folder", "options": options})
    assert made.status_code == 201  # two of the three names are also in the folder
    found = client.get(f"/api/runs/{made.json()['id']}/items/2")
    assert found.status_code == 422
    assert "is missing from the folder" in found.json()["detail"]


def test_methods_that_search_a_space_are_refused(open_studio, tmp_path):
    client = open_studio(write_pictures(tmp_path / "greys", 3))
    body = {"renderer": "folder", "method": "rank-process"}
    refused = client.post("/api/runs", json=body)
    assert refused.status_code == 422
    assert "a finite set is ranked with rank-items" in refused.json()["detail"]


def test_a_run_that_searches_a_space_has_no_order(store):
    from zorank.renderers import Landscape

    app = create_app(store, {"landscape": Landscape}, TOKEN, hosts=("testserver",))
    client = TestClient(app, headers={"Authorization": f"Bearer {TOKEN}"})
    body = {"renderer": "landscape", "method": "rank-process"}
    run_id = client.post("/api/runs", json=body).json()["id"]
    assert client.get(f"/api/runs/{run_id}").json()["items"] is None
    refused = client.get(f"/api/runs/{run_id}/order")
    assert (refused.status_code, "no order of things" in refused.text) == (404, True)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--folder", "empty"], "has no pictures, sounds or texts to rank"),
        (["--folder", "nowhere"], "there is no folder nowhere"),
        (["--folder", "greys", "--renderer", "dream"], "cannot be combined with a renderer"),
        (["--folder", "greys", "--method", "rank-process"], "found 'rank-process'"),
        (["--folder", "greys", "--prompt", "x"], "found 'prompt'; leave that out"),
    ],
)
def test_a_wrong_folder_is_one_sentence(arguments, words, refused, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    write_pictures(tmp_path / "greys", 2)
    assert words in refused("studio", *arguments, "--store", "memory://")


def test_ten_thousand_texts_are_ranked(open_studio, tmp_path):
    table = tmp_path / "many.csv"
    table.write_text("text\n" + "\n".join(f"row {number}" for number in range(10_000)))
    client = open_studio(table)
    run_id = new_run(client)
    for index in range(3):
        url = f"/api/runs/{run_id}/rounds/{index}/answer"
        assert client.post(url, json={"order": [[0], [1]]}).status_code == 200
    found = client.get(f"/api/runs/{run_id}/order").json()
    assert (found["items"], len(found["places"]), found["compared"]) == (10_000, 200, 18)
