# SPDX-License-Identifier: GPL-2.0
#
# Programs that know nothing of NDP, for ndp_run.sh: a server that waits in a given way, a
# client, and queries of sockets.  Both ends of a connection report the protocol of their
# socket, and the server the hash of what it received.
#
# Usage: ndp_run.py serve HOW PORT COUNT [OWN ADDRESS]	HOW: as in SERVERS
#	 ndp_run.py ask HOW ADDRESS PORT		HOW: as in CLIENTS
#	 ndp_run.py sockets | options ADDRESS PORT | half PORT | dropped PORT
#	 ndp_run.py replaced PORT | crowd FIRST LAST FREE... | crowded | unnoticed PORT
#	 ndp_run.py paused PORT | many FIRST LAST | ring | elsewhere NS NS ADDRESS PORT
#	 ndp_run.py overtaken ADDRESS PORT | any_port ADDRESS PORT | narrow ADDRESS PORT
#	 ndp_run.py mss ADDRESS PORT | waits PORT | relisten PORT | listen_on FD PORT
#	 ndp_run.py bare PORT FILE

import asyncio
import ctypes
import errno
import fcntl
import hashlib
import mmap
import os
import resource
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

DATA = hashlib.shake_256(b"ndp_run").digest(300000)
SOL_NDP, NDP_SYNC_CONNECT = 300, 3
SYS_CLOSE, SYS_IO_URING_SETUP = 57 if os.uname().machine == "aarch64" else 3, 425
# A pipe that is waited for beside sockets, and is never readable
SILENT, _ = os.pipe()


def kind(sock):
    """Which protocol carries the socket?"""
    try:
        sock.getsockopt(SOL_NDP, NDP_SYNC_CONNECT)
        return "NDP"
    except OSError:
        return "TCP"


def family(address):
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def answer(sock):
    """Receive to the end, then answer with the protocol and the hash."""
    sock.setblocking(True)
    got = hashlib.sha256()
    while part := sock.recv(65536):
        got.update(part)
    sock.sendall(("%s %s" % (kind(sock), got.hexdigest())).encode())
    sock.close()


def bound(own, port):
    sock = socket.socket(family(own), socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind((own, port))
    return sock


def listening(sock):
    sock.listen(8)
    print("listening", flush=True)


def listener(own, port):
    sock = bound(own, port)
    listening(sock)
    return sock


def blocking(own, port):
    sock = listener(own, port)
    while True:
        yield sock.accept()[0]


def polling(own, port):
    sock = listener(own, port)
    sock.setblocking(False)
    poll = select.poll()
    poll.register(sock, select.POLLIN)
    poll.register(SILENT, select.POLLIN)
    while True:
        for fd, _ in poll.poll():
            if fd == sock.fileno():
                yield sock.accept()[0]


def selecting(own, port):
    sock = listener(own, port)
    sock.setblocking(False)
    while True:
        if select.select([sock, SILENT], [], [])[0] == [sock]:
            yield sock.accept()[0]


def selecting_large(own, port):
    """The listener is the last descriptor of its set, beyond FD_SETSIZE, and no memory follows the set."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (60000, 60000))
    while os.dup(SILENT) < 1214:
        pass
    sock = listener(own, port)
    n, libc = sock.fileno() + 1, ctypes.CDLL(None, use_errno=True)
    assert n == 1216, "not the last of a word"
    asked = bytes(n // 8 - 1) + b"\x80" + bytes([0xaa]) * 64
    bad = bytes(n // 8 - 1) + b"\x01" + bytes([0xaa]) * 64
    os.close(n - 8)
    kept, wrong = ctypes.create_string_buffer(asked), ctypes.create_string_buffer(bad)
    assert libc.select(n, kept, wrong, None, None) == -1, "no error"
    assert ctypes.get_errno() == errno.EBADF and kept.raw[:-1] == asked, "sets were changed"
    libc.mmap.restype = ctypes.c_void_p
    page = libc.mmap(None, ctypes.c_size_t(8192), mmap.PROT_READ | mmap.PROT_WRITE,
                     mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, ctypes.c_size_t(0))
    libc.munmap(ctypes.c_void_p(page + 4096), ctypes.c_size_t(4096))
    # The table of descriptors has 2048 by now, and no memory follows a set of so many bits.
    short = ctypes.c_void_p(page + 4096 - 2048 // 8)
    ctypes.memmove(short, asked, n // 8)
    while True:
        assert libc.select(60000, short, None, None, None) == 1, "how many?"
        assert ctypes.string_at(short, n // 8) == asked[:n // 8], "another set"
        kept = ctypes.create_string_buffer(asked)
        assert libc.select(n, kept, None, None, None) == 1, "how many?"
        assert kept.raw[:-1] == asked, "another set"
        yield sock.accept()[0]


def epolling(own, port, flags=select.EPOLLET, early=False):
    """Edge-triggered: all pending connections are accepted at once, as they are not reported again."""
    sock = bound(own, port) if early else listener(own, port)
    sock.setblocking(False)
    epoll = select.epoll()
    epoll.register(sock, select.EPOLLIN | flags)
    if early:
        listening(sock)
    while True:
        epoll.poll()
        try:
            while True:
                yield sock.accept()[0]
        except BlockingIOError:
            pass


def epolling_early(own, port):
    """The socket is in the epoll before it listens."""
    return epolling(own, port, 0, True)


def exclusive(own, port):
    return epolling(own, port, select.EPOLLEXCLUSIVE)


def forking(own, port):
    """Processes that inherit the listener from their parent."""
    sock = listener(own, port)
    while True:
        if os.fork():
            os.wait()
            continue
        answer(sock.accept()[0])
        os._exit(0)


def sharing(own, port):
    """Four processes wait for one listener; each serves one connection, so all must wake for both protocols."""
    sock = listener(own, port)
    for _ in range(4):
        if not os.fork():
            answer(sock.accept()[0])
            os._exit(0)
    for _ in range(4):
        os.wait()
    sys.exit()


def accept_as_c(sock):
    """accept() of the C library: Python's own restarts after a signal by itself."""
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.accept(sock.fileno(), None, None)
    if fd < 0:
        raise OSError(ctypes.get_errno(), "accept")
    return socket.socket(fileno=fd)


def signalled(own, port):
    """A child ends while accept() waits, which fails with EINTR unless SA_RESTART is set."""
    sock = bound(own, port)
    sock.listen(8)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    for restart in False, True:
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.siginterrupt(signal.SIGCHLD, not restart)
        if not os.fork():
            time.sleep(1)
            if restart:
                print("listening", flush=True)
            os._exit(0)
        try:
            yield accept_as_c(sock)
        except InterruptedError:
            assert not restart, "EINTR in spite of SA_RESTART"
            os.wait()
    while True:
        yield sock.accept()[0]


def closing(own, port):
    """The port of a closed listener is free for another at once."""
    sock = bound(own, port)
    sock.listen(8)
    sock.close()
    return blocking(own, port)


async def serve_asyncio(own, port, count):
    done = asyncio.Semaphore(0)

    async def one(reader, writer):
        got = hashlib.sha256(await reader.read())
        writer.write(("%s %s" % (kind(writer.get_extra_info("socket")),
                                 got.hexdigest())).encode())
        await writer.drain()
        writer.close()
        done.release()

    server = await asyncio.start_server(one, own, port)
    print("listening", flush=True)
    for _ in range(count):
        await done.acquire()
    server.close()


SERVERS = {"accept": blocking, "poll": polling, "select": selecting,
           "large": selecting_large, "epoll": epolling,
           "early": epolling_early, "exclusive": exclusive, "fork": forking,
           "again": closing, "share": sharing, "signal": signalled}


def serve(how, port, count, own=""):
    if how == "asyncio":
        asyncio.run(serve_asyncio(own or "0.0.0.0", int(port), int(count)))
        return
    served = 0
    for sock in SERVERS[how](own, int(port)):
        answer(sock)
        served += 1
        if served == int(count):
            return


def half(port):
    """If TCP cannot listen on the port, as another has it, NDP does not listen either."""
    sock = bound("", int(port))
    try:
        sock.listen()
        print("listens")
    except OSError as error:
        print(errno.errorcode[error.errno],
              sock.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))


def dropped(port):
    """Bind a low port as root, and listen as another user."""
    sock = bound("", int(port))
    os.setuid(65534)
    sock.listen()
    print(kind(sock), sock.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))


def crowd(first, last, *free):
    """Listen on these ports except the free ones."""
    socks = [quiet_listener(port) for port in range(int(first), int(last) + 1)
             if str(port) not in free]
    print("listening", flush=True)
    os.read(SILENT, 1)
    return socks


def replaced(port):
    """A listener that dup2() or close_range() closes ends in TCP as well."""
    libc = ctypes.CDLL(None)
    nothing = os.open("/dev/null", os.O_RDWR)
    for end in (lambda fd: os.dup2(nothing, fd), lambda fd: os.dup2(nothing, fd, False),
                lambda fd: libc.close_range(fd, fd, 0), lambda fd: libc.syscall(SYS_CLOSE, fd)):
        sock = quiet_listener(int(port))
        before = listeners(int(port))
        end(sock.detach())
        print(before, listeners(int(port)), end=" ")


def listeners(port):
    """Number of TCP listeners on the port, as the kernel shows them."""
    with open("/proc/self/net/tcp") as file:
        return sum(line.split()[1].endswith(":%04X" % port) and line.split()[3] == "0A"
                   for line in file)


def quiet_listener(port):
    sock = bound("", port)
    sock.listen()
    return sock


def unnoticed(port):
    """A listener that fclose() has closed does not keep its port from the next one."""
    libc = ctypes.CDLL(None)
    libc.fdopen.restype = ctypes.c_void_p
    libc.fdopen.argtypes = (ctypes.c_int, ctypes.c_char_p)
    libc.fclose.argtypes = (ctypes.c_void_p,)
    for _ in range(2):
        sock = quiet_listener(int(port))
        print(listeners(int(port)), end=" ")
        libc.fclose(libc.fdopen(sock.detach(), b"r"))


def paused(port):
    """shutdown() and connect(AF_UNSPEC) end the listening in TCP as well, and listen() begins it again."""
    libc = ctypes.CDLL(None)
    sock = quiet_listener(int(port))
    for pause in (lambda: sock.shutdown(socket.SHUT_RD), lambda: libc.connect(sock.fileno(), bytes(16), 16)):
        pause()
        print(listeners(int(port)), end=" ")
        sock.listen()
        print(listeners(int(port)), end=" ")


def until_it_waits(thread):
    """Wait until a thread sleeps: one that has yet to run, or waits for the interpreter, soon does not."""
    asleep = 0
    while asleep < 20:
        with open("/proc/self/task/%d/stat" % thread.native_id, encoding="ascii") as file:
            asleep = asleep + 1 if file.read().rpartition(")")[2].split()[0] == "S" else 0
        time.sleep(0.01)


def waits(port):
    """Another thread closes the listener while accept() waits, and listens again with its numbers."""
    libc = ctypes.CDLL(None, use_errno=True)
    # On one processor, and with this thread before the other: that one runs after all of it.
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    for _ in range(5):
        sock = quiet_listener(int(port))
        errors = []
        thread = threading.Thread(target=lambda fd=sock.fileno(), said=errors: said.append(
            libc.accept(fd, None, None) < 0 and errno.errorcode[ctypes.get_errno()]))
        thread.start()
        until_it_waits(thread)
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        fd = sock.detach()
        libc.shutdown(fd, socket.SHUT_RD)
        os.close(fd)
        sock = quiet_listener(int(port))
        assert sock.fileno() == fd, "another number"
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        client = socket.create_connection(("127.0.0.1", int(port)))
        thread.join(10)
        print(*errors or ["waits"], end=" ")
        sock.accept()[0].close()
        client.close()
        sock.close()


def listen_on(fd, port):
    """Listen on a socket that was got from the parent, until it says so."""
    sock = socket.socket(fileno=int(fd))
    sock.listen()
    print(listeners(int(port)), flush=True)
    sys.stdin.read()


def relisten(port):
    """Children that listen on a socket of their parent: one, another after its end, and a third beside that."""
    sock = bound("", int(port))
    children = []
    for ends in True, False, False:
        child = subprocess.Popen([sys.executable, "-SE", sys.argv[0], "listen_on", str(sock.fileno()), port],
                                 pass_fds=[sock.fileno()], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        print(child.stdout.readline().decode().strip(), end=" ")
        children.append(child)
        if ends:
            child.communicate()
    for child in children[1:]:
        child.communicate()


def bare(port, file):
    """A program without standard descriptors gets none by listening."""
    with open(file, "w", encoding="ascii") as out:
        for fd in range(3):
            os.close(fd)
        sock = quiet_listener(int(port))
        others = [fd for fd in (1, 2) if os.path.exists("/proc/self/fd/%d" % fd)]
        print(sock.fileno(), listeners(int(port)), others, file=out)


def many(first, last):
    """How many of so many listeners have TCP as well?"""
    socks = [quiet_listener(port) for port in range(int(first), int(last) + 1)]
    print(len(socks), sum(listeners(port) for port in range(int(first), int(last) + 1)))


def ring():
    """An io_uring by syscall() would watch listeners unnoticed, as libuv's does."""
    libc = ctypes.CDLL(None, use_errno=True)
    print(libc.syscall(SYS_IO_URING_SETUP, 8, bytes(200)), errno.errorcode[ctypes.get_errno()])


def elsewhere(here, there, address, port):
    """Connect in another network namespace than that of the socket, to an exception."""
    libc = ctypes.CDLL(None)
    for name in here, there:
        with open("/run/netns/" + name) as ns:
            assert not libc.setns(ns.fileno(), 0), name
        if name == here:
            sock = socket.socket()
    print(result_of(sock, address, port))


def overtaken(address, port):
    """While connect() waits, another thread closes the descriptor, and its number is a file's."""
    sock = socket.socket()
    errors = []

    def connect():
        errors.append(libc.connect(fd, addr, 16) and errno.errorcode[ctypes.get_errno()])
    libc = ctypes.CDLL(None, use_errno=True)
    fd = sock.detach()
    addr = struct.pack("=HH4s8x", socket.AF_INET, socket.htons(int(port)), socket.inet_aton(address))
    thread = threading.Thread(target=connect)
    thread.start()
    time.sleep(0.3)
    os.close(fd)
    with tempfile.TemporaryFile(buffering=0) as file:
        assert os.dup2(file.fileno(), fd) == fd
        thread.join()
        os.write(fd, b"the file's")
        print(*errors, os.pread(file.fileno(), 100, 0).decode())


def result_of(sock, address, port):
    try:
        sock.connect((address, int(port)))
        return kind(sock)
    except OSError as error:
        return errno.errorcode[error.errno]


def mss(address, port):
    """The MSS of a connection for which the program has set none, and of one for which it has."""
    for least in 0, 1000:
        sock = socket.socket()
        if least:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, least)
        sock.connect((address, int(port)))
        print(kind(sock), sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG), end=" ")
        sock.shutdown(socket.SHUT_WR)
        sock.recv(100)


def any_port(address, port):
    """Bind to any port, and connect to an exception."""
    for _ in range(4):
        sock = socket.socket()
        sock.bind(("", 0))
        print(result_of(sock, address, port), end=" ")


def narrow(address, port):
    """Connect to an exception with one free descriptor, and with two; its TTL is 33."""
    for free in 1, 2:
        sock = socket.socket()
        sock.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, 33)
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (sock.fileno() + 1 + free, limits[1]))
        got = result_of(sock, address, port)
        print(got, sock.getsockopt(socket.IPPROTO_IP, socket.IP_TTL), end=" ")
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def crowded():
    """Listen on any port, with and without bind(), where TCP has most of them."""
    socks = socket.socket(), socket.socket()
    socks[0].bind(("", 0))
    for sock in socks:
        sock.listen()
    print(*(kind(sock) for sock in socks), *sorted(sock.getsockname()[1] for sock in socks))


def waiting(sock, to):
    sock.connect(to)


def polled(sock, to):
    """connect() in the background; as TCP's, it never completes at once."""
    sock.setblocking(False)
    assert sock.connect_ex(to) == 115, "not EINPROGRESS"
    select.select([], [sock], [])
    error = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    assert not error, os.strerror(error)
    sock.setblocking(True)


def watched(sock, to):
    """The socket is in an epoll before it connects."""
    epoll = select.epoll()
    epoll.register(sock, select.EPOLLOUT | select.EPOLLET)
    epoll.poll(0)
    sock.setblocking(False)
    assert sock.connect_ex(to) == 115, "not EINPROGRESS"
    assert epoll.poll(20) == [(sock.fileno(), select.EPOLLOUT)], "epoll knows nothing"
    sock.setblocking(True)


def jailed(sock, to):
    """connect() in the background, where there is no /proc."""
    os.chroot("/dev/shm")
    polled(sock, to)


def fast(sock, to):
    """Connect as programs do that know TCP Fast Open."""
    try:
        sock.sendto(b"", socket.MSG_FASTOPEN, to)
    except OSError as error:
        assert error.errno == errno.EOPNOTSUPP, error
        try:
            sock.sendmsg([b""], [], socket.MSG_FASTOPEN, to)
        except OSError as error:
            assert error.errno == errno.EOPNOTSUPP, error
            sock.connect(to)


def silenced(sock, to):
    """Connect when descriptor 2 is a file of the program's own."""
    with tempfile.TemporaryFile(buffering=0) as file:
        os.dup2(file.fileno(), 2)
        sock.connect(to)
        assert not os.fstat(2).st_size, "something was written to the program's file"


CLIENTS = {"connect": waiting, "fast": fast, "silenced": silenced,
           "poll": polled, "epoll": watched, "jailed": jailed}


def ask(how, address, port):
    sock = socket.socket(family(address), socket.SOCK_STREAM)
    CLIENTS[how](sock, (address, int(port)))
    sock.sendall(DATA)
    sock.shutdown(socket.SHUT_WR)
    said, _, got = sock.makefile().read().partition(" ")
    if got != hashlib.sha256(DATA).hexdigest():
        raise SystemExit("the server got something else: " + got)
    print(kind(sock), said)


def sockets():
    """Sockets of TCP, and others."""
    tcp, none = socket.IPPROTO_TCP, 0
    stream, flags = socket.SOCK_STREAM, socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC
    for made in ((socket.AF_INET, stream, none), (socket.AF_INET, stream | flags, tcp),
                 (socket.AF_INET6, stream, tcp), (socket.AF_INET, socket.SOCK_DGRAM, none),
                 (socket.AF_UNIX, stream, none)):
        sock = socket.socket(*made)
        again = socket.socket(fileno=os.dup(sock.fileno()))
        print(kind(sock), *(int(n) for n in (again.family, again.type, again.proto)),
              os.get_blocking(again.fileno()), fcntl.fcntl(sock, fcntl.F_GETFD))


def options(address, port):
    """Options that were set before connect() still hold after it."""
    asked = ((socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1), (socket.SOL_SOCKET, socket.SO_PRIORITY, 3),
             (socket.SOL_SOCKET, socket.SO_RCVBUF, 50000), (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),
             (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 77), (socket.IPPROTO_IP, socket.IP_TTL, 33))
    sock = socket.socket()
    for level, name, value in asked:
        sock.setsockopt(level, name, value)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 5))
    sock.bind(("", 4321))
    fcntl.fcntl(sock, fcntl.F_SETFD, 0)
    buffer = sock.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
    sock.connect((address, int(port)))
    print(kind(sock), *(sock.getsockopt(level, name) for level, name, _ in asked),
          *struct.unpack("ii", sock.getsockopt(socket.SOL_SOCKET, socket.SO_LINGER, 8)),
          sock.getsockname()[1], fcntl.fcntl(sock, fcntl.F_GETFD),
          sock.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) != buffer)
    sock.sendall(DATA)
    sock.shutdown(socket.SHUT_WR)
    sock.recv(100)


COMMANDS = {"serve": serve, "ask": ask, "sockets": sockets, "options": options, "half": half,
            "dropped": dropped, "replaced": replaced, "crowd": crowd, "crowded": crowded,
            "unnoticed": unnoticed, "paused": paused, "many": many, "ring": ring, "elsewhere": elsewhere,
            "overtaken": overtaken, "any_port": any_port, "narrow": narrow, "mss": mss, "waits": waits,
            "listen_on": listen_on, "relisten": relisten, "bare": bare}
COMMANDS[sys.argv[1]](*sys.argv[2:])
