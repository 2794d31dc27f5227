"""What members of a Cluster say of its slots, read; see test_cluster.py for the real ones."""

from server.store.slots import is_ok, read_view

INFO = b"cluster_state:ok\r\ncluster_current_epoch:7\r\n"
ASKED = ("asked", 7000)


def test_masters_replicas_and_epoch_are_read() -> None:
    slots = [
        [0, 99, [b"10.0.0.1", 1, b"id1", {}], [b"10.0.0.9", 9, b"id9", {}]],
        [100, 199, [b"10.0.0.2", 2, b"id2"]],
        [300, 300, [b"10.0.0.1", 1, b"id1"]],
    ]
    view = read_view(slots, INFO, ASKED)
    assert view.masters == {
        ("10.0.0.1", 1): [range(100), range(300, 301)],
        ("10.0.0.2", 2): [range(100, 200)],
    }
    assert view.replicas == {("10.0.0.9", 9)}
    assert view.rank == (True, 7)


def test_a_member_that_does_not_know_its_name_is_where_it_was_asked() -> None:
    for name in (None, b"", b"?"):
        view = read_view([[0, 1, [name, 7001, b"id"]]], INFO, ASKED)
        assert list(view.masters) == [("asked", 7001)]


def test_a_member_that_is_cut_off_is_believed_less_than_one_that_is_not() -> None:
    apart = read_view([], b"cluster_state:fail\r\ncluster_current_epoch:99\r\n", ASKED)
    assert apart.rank < read_view([], INFO, ASKED).rank


def test_an_answer_in_either_form_is_read() -> None:
    assert is_ok(INFO)
    assert is_ok([b"txt", INFO])
    assert not is_ok(b"cluster_state:fail\r\n")
