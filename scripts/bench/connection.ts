/** A keep-alive HTTP/1.1 connection for one request at a time. It sends text as it is and costs little CPU. */
import { connect } from 'node:net';

export interface Connection {
  /** `request` is whole: the request line, the headers and the body. */
  send(request: string): void;
}

interface Handlers {
  answered(status: number, body: string): void;
  /** Called when the server closes the connection, or sends what cannot be read. */
  closed(): void;
}

/** All connections share it: what is read becomes text before the next read. */
const buffer = Buffer.allocUnsafe(65_536);

export function openConnection(baseUrl: string, { answered, closed }: Handlers): Promise<Connection> {
  const { hostname, port } = new URL(baseUrl);
  let received = '';
  let bodyAt = 0;
  let end = 0;
  const callback = (count: number) => {
    received += buffer.toString('latin1', 0, count);
    if (bodyAt === 0) {
      bodyAt = received.indexOf('\r\n\r\n') + 4;
      if (bodyAt === 3) bodyAt = 0;
      else end = bodyAt + Number(/\r\ncontent-length: (\d+)/i.exec(received)?.[1]);
    }
    if (Number.isNaN(end)) socket.destroy();
    else if (bodyAt > 0 && received.length >= end) {
      const [status, body] = [Number(received.slice(9, 12)), received.slice(bodyAt)];
      received = '';
      bodyAt = 0;
      answered(status, body);
    }
    return true;
  };
  const socket = connect({ host: hostname, port: Number(port), noDelay: true, onread: { buffer, callback } });
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.on('error', () => {});
      socket.once('close', closed);
      resolve({ send: (request) => void socket.write(request, 'latin1') });
    });
  });
}
