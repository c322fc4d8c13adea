/** What no friend would send. */
import fc from 'fast-check';

export const hostileText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.constantFrom(
    ...['', ' ', '\0', 'a\0b', '\ud800', '\udfff\ud800', '\u202e\u2066', '\u001b[31m', '\r\nX-Injected: yes', '\uffff'],
    ...['__proto__', 'constructor', 'toString', 'null', 'undefined', 'NaN', 'true', '[object Object]', '{}', '[]'],
    ...["' or 1=1 --", '"; drop table records; --', '{{7*7}}', '../../../etc/passwd', '%00', '%', '%zz', '*', '٣'],
    ...['-1', '0', '1e309', '-0', '0x10', '9'.repeat(400), '2026-02-30', '0000-00-00', '+275760-09-13'],
    ...['x'.repeat(129), 'x'.repeat(5_000), '👩‍👩‍👧'.repeat(40), 'http://169.254.169.254/', 'javascript:alert(1)'],
  ),
);

const deep = fc
  .integer({ min: 1, max: 4_000 })
  .map((levels): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels)));

export const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  hostileText,
  fc.jsonValue({ maxDepth: 4 }),
  fc.double(),
  fc.constantFrom(null, [], {}, 2 ** 53, -1e308, [[]]),
  deep,
);

export const hostileBody: fc.Arbitrary<Uint8Array> = fc.oneof(
  fc.constant(Buffer.alloc(20_000, ' ')),
  fc.uint8Array({ maxLength: 300 }),
  fc.json().map((text) => Buffer.from(text)),
  fc.constantFrom('['.repeat(9_000), '{"decision":"custom"', '\ufeff{}').map((text) => Buffer.from(text)),
);
