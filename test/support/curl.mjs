// A stand-in for curl, with the options that the documents use, for machines that have none.
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    request: { type: 'string', short: 'X', default: 'GET' },
    header: { type: 'string', short: 'H', multiple: true, default: [] },
    data: { type: 'string', short: 'd' },
    'write-out': { type: 'string', short: 'w' },
    fail: { type: 'boolean', default: false },
    silent: { type: 'boolean', default: false },
  },
});
const headers = values.header.map((header) => header.split(/:\s*(.*)/, 2));
const response = await fetch(positionals[0], { method: values.request, headers, body: values.data });
const end = values['write-out'] === undefined ? '' : '\n';
const text = await response.text();
if (response.ok || !values.fail) process.stdout.write(`${text}${end}`);
process.exitCode = response.ok ? 0 : 22;
