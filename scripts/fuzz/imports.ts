/** Files of an import: rows that are valid, and what no export of ours would hold. */
import fc from 'fast-check';
import { recentId } from './values.ts';

const megabyte = 1024 * 1024;

const ndjsonRow = fc.oneof(
  recentId.map((id) => JSON.stringify({ id, decision: 'custom' })),
  fc.json(),
  fc.constantFrom(
    ...['', ' ', '{', '[]', 'null', '{"end":true}', '{"id":7}', '\ufeff{}', '{"decision":"custom"}', '"\\ud800"', '\0'],
    ...['{"__proto__":{}}', `${'['.repeat(9_000)}`, '{"decision":"custom","decidedAt":"9999-12-31T23:59:59Z"}', '\r'],
  ),
);

const csvRow = fc.oneof(
  recentId.map((id) => `${id},custom,"v ""1"",\nof two"`),
  recentId.map((id) => `"${id}","custom",`),
  fc.constantFrom(
    ...['', ',', ',,', ',,,', '"', '""', '"""', '"a', 'a"b,c,d', '"a"b,c,d', 'a,b,"c', '"a\r",b,c', "'=1+1,'@a,-1"],
    '\0,\0,\0',
    ...['x,accept_all,é', '\u2028', '"'.repeat(999), ','.repeat(999), `"${'\n'.repeat(999)}`],
  ),
);

const header = fc.constantFrom(
  ...['id,decision,visitorId', '"id","decision","visitorId"', '\ufeffid,decision,visitorId'],
  ...['id,id,id', '"id,decision', '', '__proto__,constructor,toString', 'a;b;c'],
);

const lineBreak = fc.constantFrom('\n', '\r\n', '\r');
const encoding = fc.oneof(
  { weight: 8, arbitrary: fc.constant<BufferEncoding>('utf8') },
  fc.constantFrom<BufferEncoding>('utf16le', 'latin1'),
);
const fileOf = (rows: fc.Arbitrary<string>, first: fc.Arbitrary<string[]>): fc.Arbitrary<Uint8Array> =>
  fc
    .tuple(first, fc.array(rows, { maxLength: 12 }), lineBreak, encoding)
    .map(([head, lines, between, as]) => Buffer.from([...head, ...lines].join(between), as));

/** Told by its name where a run fails with it. */
const large = (name: string, text: string) => Object.assign(Buffer.from(text), { [fc.toStringMethod]: () => name });
const largeFiles = [
  large('a line of 10 MB', 'x'.repeat(10 * megabyte)),
  large('a string of 10 MB', `{"id":"${'x'.repeat(10 * megabyte)}"}\n{}`),
  large('an open quote before 10,000 lines', `id,decision,visitorId\n"${'x\n'.repeat(10_000)}`),
  large('10,000 lines with a quote each', `id,decision,visitorId\n${'x"\n'.repeat(10_000)}`),
];

export const importFile: fc.Arbitrary<Uint8Array> = fc.oneof(
  { weight: 20, arbitrary: fileOf(ndjsonRow, fc.constant([])) },
  { weight: 20, arbitrary: fileOf(csvRow, fc.tuple(header)) },
  { weight: 4, arbitrary: fc.uint8Array({ maxLength: 300 }) },
  { weight: 1, arbitrary: fc.constantFrom(...largeFiles) },
);
