"""Numbers of several processes: their sums, and what a process finds that replaces another."""

from tests.helpers.studio_server import Plain
from zorank.studio.app import create_app
from zorank.studio.guesses import LIMIT, WrongTokens
from zorank.studio.numbers import ROWS, Numbers
from zorank.studio.shared_place import SharedPlace, shared_folder


def places(folder, count=2):
    return [SharedPlace(folder, number, count) for number in range(count)]


def test_sums_over_processes_and_replaced_ones(tmp_path):
    first, second = (Numbers(place) for place in places(tmp_path))
    first.own("answers")[0] += 2
    second.own("answers")[0] += 3
    second.own("request / 200")[7] += 0.5
    again = Numbers(places(tmp_path)[0])  # a process that replaces the first
    again.own("answers")[0] += 1
    for numbers in (second, again):
        totals = numbers.totals()
        assert list(totals) == ["answers", "request / 200"]
        assert totals["answers"][0] == 6
        assert totals["request / 200"].tolist() == [0] * 7 + [0.5]


def test_there_is_a_bound_on_rows():
    numbers = Numbers()
    for number in range(ROWS + 10):
        numbers.own(f"row {number}")[0] += 1
    assert len(numbers.totals()) == ROWS


def test_gauges_of_a_replaced_process_begin_anew_and_counters_go_on(tmp_path, store):
    def started():
        place = places(tmp_path)[0]
        return create_app(store, {"plain": Plain}, "a-long-owner-token", place=place).state

    one = started()
    one.studio.counts["answers"] += 4
    one.studio.has_pages = lambda run: True
    one.metrics.publish()
    Numbers(places(tmp_path)[0]).own("zorank_open_pages")[0] = 7
    other = started()
    other.studio.counts["answers"] += 1
    text = other.metrics.text()
    assert "\nzorank_answers_total 5\n" in text
    assert "\nzorank_open_pages 0\n" in text


def test_wrong_tokens_of_a_process_that_died_still_count(tmp_path):
    first, second = (WrongTokens("secret", place) for place in places(tmp_path))
    assert not any(first.add("a") for _ in range(LIMIT - 1))
    assert not second.add("a")
    again = WrongTokens("secret", places(tmp_path)[0])
    assert again.add("a")
    assert second.add("a")
    assert not second.add("b")


def test_a_place_whose_folder_was_removed_is_none():
    with shared_folder() as folder:
        place = places(folder)[0]
        assert folder.stat().st_mode & 0o777 == 0o700
        assert place.existing() is place
    assert place.existing() is None
