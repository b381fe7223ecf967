"""A peer of an engine, from the pages docs/protocol-bootstrap.md, -control.md and -tcp.md alone.

Usage: peer.py HOST PORT [TOKEN]. It uses the region "pages" of the engine and ends with status 0 if all is as the pages say.
"""
import hashlib
import hmac
import os
import socket
import struct
import sys

HELLO, WELCOME, AUTHENTICATE, ACCEPT, READY, LANE, LANE_ACCEPT = 1, 2, 3, 4, 6, 7, 8
HEARTBEAT, ATTACH, ATTACH_RESULT, LOOKUP, LOOKUP_RESULT = 16, 17, 18, 21, 22
NOTIFY, NOTIFY_PROGRESS, GOODBYE, CHECKSUM, CHECKSUM_RESULT = 23, 24, 25, 40, 41
WRITE, READ, READ_DATA, ACK, NACK, WRITE_PAGES, READ_PAGES = 1, 2, 3, 5, 6, 8, 9
PUT, SIGNAL, FETCH_ADD, COMPARE_AND_SWAP, FETCHED = 16, 17, 19, 20, 21
OUT_OF_BOUNDS = 4

host, port, token = sys.argv[1], int(sys.argv[2]), sys.argv[3].encode() if len(sys.argv) > 3 else None


def check(is_so, *shown):
    if not is_so:
        sys.exit("not as the pages say: %s" % (shown,))


def mac(key, purpose, *parts):
    digest = hmac.new(key, digestmod=hashlib.sha256)
    for part in (purpose.encode(), *parts):
        digest.update(struct.pack(">I", len(part)) + part)
    return digest.digest()


def number(value):
    return struct.pack(">q", value)


def exactly(stream, count):
    received = b""
    while len(received) < count:
        more = stream.recv(count - len(received))
        check(more, "closed after", received)
        received += more
    return received


def send(stream, kind, body=b""):
    stream.sendall(struct.pack(">HBBI", 0x534C, 1, kind, len(body)) + body)


def receive(stream, wanted):
    while True:
        magic, version, kind, length = struct.unpack(">HBBI", exactly(stream, 8))
        check((magic, version) == (0x534C, 1), magic, version)
        body = exactly(stream, length)
        if kind != HEARTBEAT or wanted == HEARTBEAT:
            check(kind == wanted, kind, body)
            return body


def encoded(fields):
    return b"".join(struct.pack(">HH", tag, len(value)) + value for tag, value in fields)


def decoded(body):
    fields, at = {}, 0
    while at < len(body):
        tag, length = struct.unpack_from(">HH", body, at)
        fields[tag] = body[at + 4 : at + 4 + length]
        at += 4 + length
    return fields


def bootstrap(control):
    """Returns the lane."""
    nonce, token_key = os.urandom(32), hashlib.sha256(token).digest() if token else bytes(32)
    hello = [(1, os.urandom(16)), (2, number(1)), (3, nonce), (4, b"tcp"), (6, number(16)), (7, number(1024))]
    hello += [(8, number(10_000)), (10, number(1 if token else 0)), (33, number(0))]
    if token:
        hello.append((48, mac(token_key, "sluice 1 token", nonce)[:16]))
    send(control, HELLO, encoded(hello))
    welcome = decoded(receive(control, WELCOME))
    proven = encoded((tag, welcome[tag]) for tag in (1, 2, 3, 11, 5, 6, 7, 8, 10, 32, 33, 35) if tag in welcome)
    session = mac(token_key, "sluice 1 session", encoded(hello), proven)
    check(welcome[12] == mac(session, "acceptor") and welcome[5] == b"tcp", welcome)
    offer = struct.pack(">BBIBq", 1, 1, 64, 0, 1 << 20)
    send(control, AUTHENTICATE, encoded([(12, mac(session, "initiator")), (13, offer)]))
    check(len(decoded(receive(control, ACCEPT))[13]) >= 6)
    lane = socket.create_connection((host, port))
    proof = mac(session, "lane", welcome[11], b"\0")
    send(lane, LANE, encoded([(11, welcome[11]), (16, number(0)), (12, proof)]))
    receive(lane, LANE_ACCEPT)
    send(control, READY)
    return lane


control = socket.create_connection((host, port))
lane = bootstrap(control)
send(control, LOOKUP, number(1) + b"pages")
found = receive(control, LOOKUP_RESULT)
check(len(found) == 73 and found[8] == 0, found)
descriptor = found[9:]
send(control, ATTACH, number(2) + descriptor)
attached = receive(control, ATTACH_RESULT)
check(attached[8] == 0 and attached[17:] == b"\0\0", attached)
handle = attached[9:17]
epoch, key = descriptor[24:32], descriptor[40:48]


def answered(kind, offset, length, more=b""):
    """Sends a request, and returns operation, status, count and what else the answer has."""
    named = handle + key + epoch + number(offset) + number(length)
    lane.sendall(struct.pack(">IBBH", 0x534C4454, kind, 0, 0) + named + more)
    magic, operation, status, zero, count = struct.unpack_from(">IBBHq", header := exactly(lane, 48))
    check((magic, zero) == (0x534C4454, 0), header)
    if operation == FETCHED:
        return operation, status, struct.unpack(">q8x", exactly(lane, 16))[0]
    if operation == READ_DATA:
        return operation, status, exactly(lane, struct.unpack_from(">q", header, 40)[0])
    return operation, status, count


def ends(answer, *expected):
    check(answer == expected, answer, expected)


text = b"from another language\0"
ends(answered(WRITE, 8, len(text), text), ACK, 0, 1)
ends(answered(READ, 8, len(text)), READ_DATA, 0, text)
ends(answered(FETCH_ADD, 0, 8, number(5) + number(0)), FETCHED, 0, 0)
ends(answered(COMPARE_AND_SWAP, 0, 8, number(9) + number(5)), FETCHED, 0, 5)
ends(answered(SIGNAL, 0, 8, number(1) + number(0)), ACK, 0, 2)
ends(answered(PUT, 40, 4, number(0x01020304) + number(0)), ACK, 0, 3)
ends(answered(READ, 40, 4), READ_DATA, 0, b"\4\3\2\1")
table = number(128) + number(64)
ends(answered(WRITE_PAGES, 4, len(table) + 8, table + b"aaaabbbb"), ACK, 0, 4)
ends(answered(READ_PAGES, 4, len(table), table), READ_DATA, 0, b"aaaabbbb")
ends(answered(WRITE, 1 << 40, 1, b"x"), NACK, OUT_OF_BOUNDS, 5)
send(control, CHECKSUM, number(3) + handle + key + epoch + number(64) + number(0))
check(receive(control, CHECKSUM_RESULT) == number(3) + b"\0" + bytes(4))
send(control, NOTIFY, b"written")
check(receive(control, NOTIFY_PROGRESS) == struct.pack(">II", 1, 1))
send(control, GOODBYE, b"done")
