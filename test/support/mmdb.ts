/** Writes a MaxMind DB file (format 2.0, records of 24 bits): networks, and what the file says of each. */
import { isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

type Value = string | number | Value[] | { [name: string]: Value };
/** `203.0.113.0/24` → data */
type Networks = Record<string, Value>;
type Node = [Branch, Branch];
type Branch = Node | { offset: number } | undefined;

export function makeMmdb(databaseType: string, networks: Networks, ipVersion: 4 | 6 = 6): Buffer {
  const nodes: Node[] = [[undefined, undefined]];
  const data: Buffer[] = [];
  let offset = 0;
  for (const [network, value] of Object.entries(networks)) {
    insert(nodes, bitsOf(network, ipVersion), { offset });
    const encoded = encode(value);
    data.push(encoded);
    offset += encoded.length;
  }
  const numberOf = new Map(nodes.map((node, index) => [node, index]));
  const tree = Buffer.alloc(nodes.length * 6);
  for (const [index, node] of nodes.entries())
    for (const [side, branch] of node.entries()) {
      const record = Array.isArray(branch)
        ? (numberOf.get(branch) ?? 0)
        : nodes.length + (branch ? 16 + branch.offset : 0);
      tree.writeUIntBE(record, index * 6 + side * 3, 3);
    }
  const metadata = encode({
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1_700_000_000,
    database_type: databaseType,
    description: { en: 'made by a test' },
    ip_version: ipVersion,
    languages: ['en'],
    node_count: nodes.length,
    record_size: 24,
  });
  return Buffer.concat([tree, Buffer.alloc(16), ...data, Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1'), metadata]);
}

/** IPv4 is at the beginning of IPv6. */
function bitsOf(network: string, ipVersion: 4 | 6): number[] {
  const [address, length] = ipaddr.parseCIDR(network);
  const bytes = address.toByteArray();
  const bits = bytes.flatMap((byte) => Array.from({ length: 8 }, (_, bit) => (byte >> (7 - bit)) & 1)).slice(0, length);
  return ipVersion === 6 && !isIPv6(address.toString()) ? [...Array<number>(96).fill(0), ...bits] : bits;
}

function insert(nodes: Node[], bits: number[], data: { offset: number }): void {
  let [node] = nodes;
  for (const [depth, bit] of bits.entries()) {
    if (!node) throw new Error('one network lies in another');
    if (depth === bits.length - 1) node[bit] = data;
    else {
      const next: Branch = node[bit] ?? [undefined, undefined];
      if (!Array.isArray(next)) throw new Error('one network lies in another');
      if (!node[bit]) nodes.push(next);
      node[bit] = next;
      node = next;
    }
  }
}

function encode(value: Value): Buffer {
  if (typeof value === 'string') return Buffer.concat([control(2, Buffer.byteLength(value)), Buffer.from(value)]);
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return Buffer.concat([control(6, 4), bytes]);
  }
  if (Array.isArray(value)) return Buffer.concat([control(11, value.length), ...value.map(encode)]);
  const entries = Object.entries(value);
  return Buffer.concat([
    control(7, entries.length),
    ...entries.flatMap(([name, each]) => [encode(name), encode(each)]),
  ]);
}

/** Types above 7 have a byte of their own; sizes from 29 on have one more. */
function control(type: number, size: number): Buffer {
  const extended = type > 7;
  const first = ((extended ? 0 : type) << 5) | Math.min(size, 29);
  return Buffer.from([first, ...(extended ? [type - 7] : []), ...(size >= 29 ? [size - 29] : [])]);
}
