// A peer that speaks valid HTTP in as many small units as it can, in a thread of its own; or, where it is `plain`, one that
// is sent or sends as many bytes or requests a second in the usual way. It says its port, or 0 for a client.
import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

const { kind, plain, port, path, headers = [] } = workerData;
/** milliseconds */
const tick = 10;
const bodyStart = '{"decision":"custom"}';

/** Calls `work` each tick with what is due of `rate` a second. */
async function paced(rate, work, isOver = () => false) {
  let done = 0;
  for (const start = performance.now(); !isOver(); await sleep(tick)) {
    const due = Math.floor(((performance.now() - start) * rate) / 1_000) - done;
    if (due <= 0) continue;
    done += due;
    work(due);
  }
}

/** A connection that is made again whenever it ends. */
function lasting(opened = () => {}) {
  const lane = { socket: undefined };
  const open = () => {
    lane.socket = connect({ port, host: '127.0.0.1', noDelay: true });
    lane.socket.on('error', () => {}).on('close', () => setTimeout(open, tick));
    lane.socket.on('data', () => {});
    opened(lane);
  };
  open();
  return lane;
}

const chunk = (text) => `${text.length.toString(16)}\r\n${text}\r\n`;
const head = (method, more = []) => [`${method} ${path} HTTP/1.1`, 'Host: a', ...headers, ...more, '', ''].join('\r\n');

/** Requests of one connection, each before the response to the last; plain: of many, each after it. */
function pipelined(rate, isRead = true) {
  const request = head('GET');
  if (!plain) {
    const lane = lasting((opened) => isRead || opened.socket.pause());
    return paced(rate, (due) => lane.socket.write(request.repeat(due)));
  }
  const idle = [];
  for (let count = 0; count < 100; count += 1) {
    lasting((lane) => {
      lane.socket.on('connect', () => idle.push(lane)).on('data', () => idle.push(lane));
    });
  }
  return paced(rate, (due) => {
    for (const lane of idle.splice(0, due)) lane.socket.write(request);
  });
}

/** Bodies in chunks as small as `unit`; plain: as large as what is due. `rate`: bytes on the wire a second, in all. */
function chunked(lanes, rate, unit = () => chunk(' ')) {
  const begun = head('POST', ['Transfer-Encoding: chunked', `Content-Type: ${workerData.type ?? 'application/json'}`]);
  const open = Array.from({ length: lanes }, () => lasting((lane) => lane.socket.write(begun)));
  const size = unit().length;
  return paced(rate / lanes / size, (due) => {
    for (const { socket } of open) {
      if (socket.writableLength > 1024 * 1024) continue;
      socket.write(plain ? chunk(' '.repeat(due * size)) : unit().repeat(due));
    }
  });
}

/** One byte a packet; plain: the same bytes at once. */
function inPackets(lanes, rate) {
  const text = head('POST', [`Content-Length: ${bodyStart.length}`]) + bodyStart;
  const sent = Array.from({ length: lanes }, () => ({ at: 0, lane: lasting() }));
  return paced(rate / lanes, (due) => {
    for (const each of sent) {
      for (let count = 0; count < due; count += 1) {
        const byte = text[each.at];
        each.at = (each.at + 1) % text.length;
        if (!plain) each.lane.socket.write(byte);
        else if (each.at === 0) each.lane.socket.write(text);
      }
    }
  });
}

/** How long a receiver takes, in milliseconds: less than the sender's patience, so that the message is delivered. */
const takes = 13_000;
const done = 'HTTP/1.1 204 No Content\r\n\r\n';

/** A receiver of webhooks: sends `unit` again and again at `rate` bytes a second, then its response; plain: says nothing until then. */
function receiver(rate, unit, begun = '', ended = done) {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    let isOver = false;
    socket.on('close', () => {
      isOver = true;
    });
    socket.once('data', async () => {
      setTimeout(() => {
        isOver = true;
        socket.end(plain ? done : ended);
      }, takes);
      if (plain) return;
      socket.setNoDelay();
      socket.write(begun);
      const size = unit.length;
      const write =
        size === 1
          ? (due) => Array.from({ length: due }, () => socket.write(unit))
          : (due) => socket.write(unit.repeat(due));
      await paced(
        rate / size,
        (due) => socket.writableLength > 4_000_000 || write(due),
        () => isOver,
      );
    });
  });
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
}

const kinds = {
  // whom the service calls
  'interim responses': () => receiver(60_000_000, 'HTTP/1.1 103 Early Hints\r\n\r\n'),
  'small chunks': () =>
    receiver(2_000_000, chunk('x'), 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', '0\r\n\r\n'),
  'small packets': () => receiver(20_000, 'x', 'HTTP/1.1 200 OK\r\nX-A: '),
  // who calls it
  'requests ahead': () => pipelined(27_000),
  'unread responses': () => pipelined(500, false),
  'bodies in small chunks': () => chunked(30, 2_000_000),
  'imports in small chunks': () => chunked(4, 2_000_000),
  'chunks with extensions': () => chunked(30, 3_000_000, () => `1;${'x'.repeat(500)}\r\n \r\n`),
  'requests in small packets': () => inPackets(30, 6_000),
};

const isReceiver = ['interim responses', 'small chunks', 'small packets'].includes(kind);
if (!isReceiver) parentPort.postMessage(0);
void kinds[kind]();
