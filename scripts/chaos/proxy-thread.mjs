// A TCP proxy on the loopback that can misbehave as networks do, in a thread of its own. It says its port, and is told the
// weather: `pass`; `hold`: connections stay open, and bytes are lost; a number: milliseconds of delay; or `cut`, once.
import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

let weather = 'pass';
const open = new Set();
/** Half open: bytes were lost, so these stay silent for good, and only a new connection helps. */
const silent = new WeakSet();

function forward(from, to) {
  open.add(from);
  if (weather === 'hold') silent.add(from);
  from.on('error', () => {});
  from.on('close', () => {
    open.delete(from);
    to.destroy();
  });
  let sent = Promise.resolve();
  from.on('data', (chunk) => {
    if (silent.has(from)) return;
    // each waits for the one before too, so that bytes stay in their order where the delay has ended meanwhile
    sent = Promise.all([sent, typeof weather === 'number' ? sleep(weather) : undefined]).then(() => {
      if (!to.destroyed) to.write(chunk);
    });
  });
}

parentPort.on('message', (next) => {
  if (next === 'cut') {
    for (const socket of open) socket.destroy();
    return;
  }
  weather = next;
  if (next === 'hold') for (const socket of open) silent.add(socket);
});

const server = createServer((client) => {
  const upstream = connect(workerData, '127.0.0.1');
  forward(client, upstream);
  forward(upstream, client);
});
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
