"""Wrong tokens are counted for each address, for a minute."""

from zorank.studio.guesses import ADDRESSES, LIMIT, PERIOD, WrongTokens


def test_after_the_limit_an_address_has_sent_too_many():
    wrong = WrongTokens("secret", now=lambda: 0.0)
    assert [wrong.add("a") for _ in range(LIMIT)] == [False] * LIMIT
    assert wrong.add("a")
    assert not wrong.add("b")


def test_a_minute_later_it_may_try_again():
    now = [0.0]
    wrong = WrongTokens("secret", now=lambda: now[0])
    for _ in range(LIMIT + 5):
        wrong.add("a")
    now[0] = PERIOD - 0.1
    assert wrong.add("a")
    now[0] = PERIOD
    assert not wrong.add("a")


def test_only_so_many_addresses_are_remembered():
    wrong = WrongTokens("secret", now=lambda: 0.0)
    for number in range(10 * ADDRESSES):
        wrong.add(str(number))
    assert wrong.remembered == ADDRESSES
    assert not wrong.add("new")
