#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Programs of others, as Debian ships them, over NDP by ndp_run: servers in H1, clients in
# H0.  Received data is compared with what was sent, and none of it may go by TCP: neither
# host sends a TCP segment in the whole test, and NDP's counters have the bytes.
#
#	H0 eth0 ==== eth0 H1	10.0.0.1, 10.0.0.2

# In a mount namespace of its own, as programs and modules are laid over the machine's /usr.
[ -n "${NDP_PROGRAMS_PRIVATE-}" ] || NDP_PROGRAMS_PRIVATE=1 exec unshare -m "$0" "$@"

. "$(dirname "$0")/lib_ndp.sh"

require_module ndp netwire
require_program ndp_run python3 sha256sum
tap_plan 33

KB=400
head -c $((KB * 1000)) /dev/urandom >"$TMP/sent"
SUM=$(sha256sum <"$TMP/sent")
# Bytes that are sent there and back
TWICE=$((2 * KB * 1000))
chmod 755 "$TMP"

# in_h0, in_h1 COMMAND...: run it by ndp_run; errors of in_h0 are in $TMP/err
in_h0() { in_ns "$H0" timeout 60 ndp_run -c /dev/null "$@" 2>>"$TMP/err"; }
in_h1() { background in_ns "$H1" ndp_run -c /dev/null "$@" >"$TMP/server" 2>&1; }

# without PROGRAM RESULTS WHY: skip so many results
without() {
	local results=$2

	while ((results-- > 0)); do
		skip "$1" "$3"
	done
}

# have PROGRAM... RESULTS: are they installed?  Else so many results are skipped
have() {
	local p

	: >"$TMP/err"
	for p in "${@:1:$#-1}"; do
		command -v "$p" >/dev/null && continue
		without "$p" "${*: -1}" "there is no such program"
		return 1
	done
	BEFORE=$(ndp_total DataBytesIn "$H0" "$H1")
}

# Is there an NDP listener on that port that accepts this connection?
listens() { in_ns "$H0" ndp_run -c /dev/null python3 -SE -c '
import socket, sys
socket.create_connection(("10.0.0.2", int(sys.argv[1])), 5)' "$1" 2>/dev/null; }
await() { wait_for 30 listens "$1" || die "nobody listens at $1: $(tail -n 5 "$TMP/server")"; }

# A program that takes only one connection prints that it is listening.
says_listening() {
	wait_for 30 grep -qi listening "$TMP/server" ||
		die "nobody listens: $(tail -n 5 "$TMP/server")"
}

segments() {
	local ns

	for ns in "$H0" "$H1"; do
		in_ns "$ns" awk '$1 == "Tcp:" { print $12 }' /proc/net/snmp | tail -n 1
	done | paste -sd " "
}

# same NAME SUM [BYTES]: is it the sum of what was sent, and did NDP carry so many bytes?
same() {
	is "$1: what came" "$2" "$SUM" || say "$(tail -n 3 "$TMP/err" "$TMP/server")"
	by_ndp "$1" "${3:-$((KB * 1000))}"
}
by_ndp() {
	check "$1: by NDP" [ $(($(ndp_total DataBytesIn "$H0" "$H1") - BEFORE)) -ge "$2" ]
}

wire_pair rate=1gbit delay=200us mtu=9000

# Programs that the lab has fetched are laid over the machine's own, modules included.
if [ -d "${NDP_PROGRAMS-}/usr" ]; then
	mount -t overlay -o "lowerdir=$NDP_PROGRAMS/usr:/usr" overlay /usr || die "no overlay"
	cp -an "$NDP_PROGRAMS"/etc/. /etc/
fi
PATH=$PATH:/usr/sbin:/sbin:$(printf '%s:' /usr/lib/postgresql/*/bin /usr/lib/jvm/*/bin)

# Data from the server, and no file of ours: iperf3's sender is done once all is in its socket's
# buffer, and says so on another connection, which its receiver may read before the rest of the
# data.  Within one host: until it may begin, for a round trip, iperf3 polls without a pause
# whether it can write, and virtual time does not advance meanwhile.
if have iperf3 2; then
	in_h1 iperf3 -s -1 --forceflush
	says_listening
	in_ns "$H1" timeout 60 ndp_run -c /dev/null iperf3 -c 10.0.0.2 -R --repeating-payload \
		-n ${KB}000 -l 10000 -F "$TMP/iperf" >"$TMP/out" 2>"$TMP/err"
	is "iperf3: what came" "$(head -c ${KB}000 "$TMP/iperf" | sha256sum)" \
		"$(yes 0123456789 | tr -d '\n' | head -c ${KB}000 | sha256sum)"
	by_ndp iperf3 ${KB}000
fi

nc=$(command -v nc.openbsd || command -v nc)
if have "${nc:-nc}" 2; then
	in_h1 sh -c "$nc -nv -N -l 5001 >$TMP/nc </dev/null"
	SERVER=$PID
	says_listening
	in_h0 "$nc" -N 10.0.0.2 5001 <"$TMP/sent"
	wait $SERVER
	same netcat "$(sha256sum <"$TMP/nc")"
fi

if have socat 2; then
	in_h1 socat TCP-LISTEN:5002,reuseaddr,fork PIPE
	await 5002
	same socat "$(in_h0 socat -t 20 - TCP:10.0.0.2:5002 <"$TMP/sent" | sha256sum)" $TWICE
fi

mkdir "$TMP/www" "$TMP/synced"
cp "$TMP/sent" "$TMP/www/file"
if have curl 2; then
	in_h1 python3 -SE -m http.server -d "$TMP/www" 5003
	await 5003
	same "http.server and curl" "$(in_h0 curl -sS http://10.0.0.2:5003/file | sha256sum)"
fi

if have python3 2; then
	in_h1 python3 -SE -c '
import asyncio
async def echo(reader, writer):
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.close()
async def main():
    await (await asyncio.start_server(echo, port=5004)).serve_forever()
asyncio.run(main())'
	await 5004
	same asyncio "$(in_h0 python3 -SE -c '
import asyncio, sys
async def main():
    reader, writer = await asyncio.open_connection("10.0.0.2", 5004)
    async def send():
        writer.write(sys.stdin.buffer.read())
        await writer.drain()
        writer.write_eof()
    sending = asyncio.create_task(send())
    sys.stdout.buffer.write(await reader.read())
    await sending
asyncio.run(main())' <"$TMP/sent" | sha256sum)" $TWICE
fi

if have rsync 2; then
	printf 'use chroot = no\nuid = 0\n[www]\npath = %s\n' "$TMP/www" >"$TMP/rsyncd.conf"
	in_h1 rsync --daemon --no-detach --config="$TMP/rsyncd.conf" --port=5005
	await 5005
	in_h0 rsync rsync://10.0.0.2:5005/www/file "$TMP/synced/"
	same rsync "$(sha256sum <"$TMP/synced/file")"
fi

if have nginx curl 2; then
	mkdir -p "$TMP/nginx" /var/log/nginx
	cat >"$TMP/nginx.conf" <<-END
		daemon off; worker_processes 2; user root; pid $TMP/nginx/pid;
		error_log $TMP/nginx/error; events { worker_connections 64; }
		http {
			access_log off; sendfile on; tcp_nopush on;
			client_body_temp_path $TMP/nginx; proxy_temp_path $TMP/nginx;
			fastcgi_temp_path $TMP/nginx; uwsgi_temp_path $TMP/nginx;
			scgi_temp_path $TMP/nginx;
			server {
				listen 5006; listen [::]:5006; root $TMP/www;
				location /small { return 200 "as it should be"; }
			}
		}
	END
	in_h1 "$(command -v nginx)" -c "$TMP/nginx.conf"
	await 5006
	same "nginx and curl" "$(in_h0 curl -sS http://10.0.0.2:5006/file | sha256sum)"
fi

# Debian's HAProxy needs cmpxchg16b, which the lab's QEMU leaves out (tools/lab/run).
haproxy_runs() {
	haproxy -v >/dev/null 2>&1
	[ $? -ne 132 ] && return
	without haproxy 2 "this processor lacks an instruction that it needs"
	return 1
}

if have nginx curl haproxy 2 && haproxy_runs; then
	cat >"$TMP/haproxy.cfg" <<-END
		defaults
			mode http
			timeout connect 5s
			timeout client 30s
			timeout server 30s
		listen front
			bind :5007
			server nginx 10.0.0.2:5006
	END
	: >"$TMP/err"
	BEFORE=$(ndp_total DataBytesIn "$H0" "$H1")
	in_h1 haproxy -db -f "$TMP/haproxy.cfg"
	await 5007
	same "HAProxy before nginx" "$(in_h0 curl -sS http://10.0.0.2:5007/file | sha256sum)" \
		$TWICE
fi

if have nginx wrk 2; then
	in_h0 wrk -t 1 -c 2 -d 1s http://10.0.0.2:5006/small >"$TMP/wrk"
	say "$(grep 'requests in' "$TMP/wrk")"
	check "wrk: requests, and no errors" sh -c "grep -q '^ *[1-9][0-9]* requests in' $TMP/wrk &&
		! grep -Eq 'Socket errors|Non-2xx' $TMP/wrk"
	by_ndp wrk 15000
fi

if have redis-server redis-cli redis-benchmark 3; then
	in_h1 redis-server --port 5008 --bind 10.0.0.2 --save '' --dir "$TMP" --protected-mode no
	await 5008
	base64 -w 0 "$TMP/sent" >"$TMP/text"
	in_h0 redis-cli -h 10.0.0.2 -p 5008 -x set key <"$TMP/text" >/dev/null
	same redis "$(in_h0 redis-cli -h 10.0.0.2 -p 5008 --raw get key | base64 -di | sha256sum)" \
		$TWICE
	in_h0 redis-benchmark -h 10.0.0.2 -p 5008 -n 200 -c 4 -t set,incr,lpush --csv >"$TMP/csv"
	ask=(in_h0 redis-cli -h 10.0.0.2 -p 5008)
	is "redis-benchmark: all of its requests" "$("${ask[@]}" mget counter:__rand_int__ |
		tr -d '"') $("${ask[@]}" llen mylist)" "200 200"
fi

if have sshd ssh ssh-keygen 3; then
	id sshd >/dev/null 2>&1 || useradd -r -d /run/sshd -s /usr/sbin/nologin sshd
	mkdir -p /run/sshd "$TMP/ssh"
	chmod 700 "$TMP/ssh"
	ssh-keygen -q -t ed25519 -N '' -f "$TMP/ssh/host"
	ssh-keygen -q -t ed25519 -N '' -f "$TMP/ssh/user"
	cat >"$TMP/ssh/config" <<-END
		Port 5009
		ListenAddress 10.0.0.2
		HostKey $TMP/ssh/host
		AuthorizedKeysFile $TMP/ssh/user.pub
		StrictModes no
		PermitRootLogin prohibit-password
		PidFile none
		UsePAM no
		Subsystem sftp internal-sftp
	END
	in_h1 "$(command -v sshd)" -D -e -f "$TMP/ssh/config"
	await 5009
	options=(-F /dev/null -i "$TMP/ssh/user" -o StrictHostKeyChecking=no
		-o "UserKnownHostsFile=$TMP/ssh/known" -o BatchMode=yes)
	same OpenSSH "$(in_h0 ssh "${options[@]}" -p 5009 root@10.0.0.2 cat <"$TMP/sent" |
		sha256sum)" $TWICE
	in_h0 scp -q "${options[@]}" -P 5009 "root@10.0.0.2:$TMP/sent" "$TMP/copied"
	is "scp: what came" "$(sha256sum <"$TMP/copied")" "$SUM"
fi

# On 6.1 initdb's server takes and releases a lock of its own without end and without a system
# call: no socket is involved, and virtual time does not advance.
if virtual_time && [[ $(uname -r) == 6.1.* ]]; then
	without PostgreSQL 4 "initdb never ends on user-mode Linux of 6.1"
elif have initdb postgres pgbench psql 4; then
	mkdir "$TMP/pg"
	chown 65534 "$TMP/pg"
	as_nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups env "HOME=$TMP/pg")
	"${as_nobody[@]}" initdb -N -A trust -U bench -D "$TMP/pg/data" >"$TMP/server" 2>&1 ||
		say "$(tail -n 3 "$TMP/server")"
	echo 'host postgres bench 10.0.0.0/24 trust' >>"$TMP/pg/data/pg_hba.conf"
	in_h1 "${as_nobody[@]}" "$(command -v postgres)" -D "$TMP/pg/data" -h 10.0.0.2 \
		-p 5010 -k '' -F
	await 5010
	export PGHOST=10.0.0.2 PGPORT=5010 PGUSER=bench PGDATABASE=postgres
	in_h0 pgbench -q -i -s 1 >/dev/null
	in_h0 pgbench -n -c 2 -t 10 >"$TMP/bench"
	check "pgbench: all of its transactions" grep -q 'processed: 20/20' "$TMP/bench"
	is "pgbench: the sums of its tables" "$(in_h0 psql -At -c '
		select (select count(*) from pgbench_history), a = h, b = h from
		(select sum(abalance) a from pgbench_accounts) x,
		(select sum(bbalance) b from pgbench_branches) y,
		(select sum(delta) h from pgbench_history) z')" \
		"20|t|t"
	{
		echo 'create table t (x text);'
		echo 'copy t from stdin;'
		base64 -w 0 "$TMP/sent"
		printf '\n\\.\n'
	} | in_h0 psql -q
	same PostgreSQL "$(in_h0 psql -At -c 'select x from t' | base64 -di | sha256sum)" $TWICE
fi

if have node 2; then
	cat >"$TMP/echo.js" <<-'END'
		const net = require('net'), fs = require('fs');
		if (process.argv[2] === 'server') {
			net.createServer({ allowHalfOpen: true }, s => s.pipe(s)).listen(5011);
		} else {
			const to = { port: 5011, host: '10.0.0.2', allowHalfOpen: true };
			const s = net.connect(to);
			s.pipe(process.stdout);
			fs.createReadStream(process.argv[3]).pipe(s);
		}
	END
	in_h1 node "$TMP/echo.js" server
	await 5011
	same Node.js "$(in_h0 node "$TMP/echo.js" client "$TMP/sent" | sha256sum)" $TWICE
fi

if have java javac 2; then
	cat >"$TMP/Echo.java" <<-'END'
		import java.io.*;
		import java.net.*;
		import java.nio.ByteBuffer;
		import java.nio.channels.*;
		import java.nio.file.*;

		class Echo {
		  static void serve() throws IOException {
		    ServerSocket listener = new ServerSocket(5012);
		    while (true) {
		      Socket s = listener.accept();
		      new Thread(() -> {
		        try (s) {
		          s.getInputStream().transferTo(s.getOutputStream());
		        } catch (IOException e) {
		          e.printStackTrace();
		        }
		      }).start();
		    }
		  }

		  static void ask(byte[] data) throws IOException {
		    SocketChannel c = SocketChannel.open();
		    Selector wait = Selector.open();
		    ByteBuffer out = ByteBuffer.wrap(data), in = ByteBuffer.allocate(65536);

		    c.configureBlocking(false);
		    c.connect(new InetSocketAddress("10.0.0.2", 5012));
		    SelectionKey key = c.register(wait, SelectionKey.OP_CONNECT);
		    while (true) {
		      wait.select();
		      wait.selectedKeys().clear();
		      if (key.isConnectable() && c.finishConnect())
		        key.interestOps(SelectionKey.OP_READ | SelectionKey.OP_WRITE);
		      if (key.isWritable() && c.write(out) >= 0 && !out.hasRemaining()) {
		        c.shutdownOutput();
		        key.interestOps(SelectionKey.OP_READ);
		      }
		      if (!key.isReadable())
		        continue;
		      in.clear();
		      if (c.read(in) < 0)
		        break;
		      System.out.write(in.array(), 0, in.position());
		    }
		    System.out.flush();
		  }

		  public static void main(String[] arg) throws IOException {
		    if (arg.length == 0)
		      serve();
		    else
		      ask(Files.readAllBytes(Path.of(arg[0])));
		  }
		}
	END
	java=(java -Xint -Xmx64m -XX:+UseSerialGC -cp "$TMP")
	javac -J-Xmx128m -J-XX:+UseSerialGC -d "$TMP" "$TMP/Echo.java" >"$TMP/server" 2>&1
	in_h1 "${java[@]}" Echo
	await 5012
	same Java "$(in_h0 "${java[@]}" Echo "$TMP/sent" | sha256sum)" $TWICE
fi

is "no host has sent a segment of TCP" "$(segments)" "0 0"
