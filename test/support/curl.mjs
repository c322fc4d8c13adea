// A stand-in for curl, with the options that the documents use, for machines that have none.
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    request: { type: 'string', short: 'X', default: 'GET' },
    header: { type: 'string', short: 'H', multiple: true, default: [] },
    data: { type: 'string', short: 'd' },
    'write-out': { type: 'string', short: 'w' },
  },
});
const headers = values.header.map((header) => header.split(/:\s*(.*)/, 2));
const response = await fetch(positionals[0], { method: values.request, headers, body: values.data });
const end = values['write-out'] === undefined ? '' : '\n';
process.stdout.write(`${await response.text()}${end}`);
process.exitCode = response.ok ? 0 : 22;
