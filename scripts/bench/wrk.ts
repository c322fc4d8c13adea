/** The script that makes wrk send every request anew: the next template with a random visitor. */
import { addressPattern, visitorDigits, visitors } from './bodies.ts';

const quoted = (text: string) => `[==[${text}]==]`;

/** Lua takes a line break as it is in the file, so those of HTTP are written as escapes. */
const escaped = (text: string) =>
  `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\r\n', '\\r\\n')}"`;

const done = [
  'done = function(summary)',
  '  local e = summary.errors',
  '  local failed = e.connect + e.read + e.write + e.status + e.timeout',
  '  io.write(string.format("RESULT %f %d\\n", summary.requests / summary.duration * 1e6, failed))',
  'end',
];

/** Two gaps: the first is the address's. */
export function postScript(templates: string[][]): string {
  const [first = []] = templates;
  const parts = first.map((_, at) => `{${templates.map((texts) => escaped(texts[at] ?? '')).join(',')}}`);
  const gaps = first.length === 3 ? ['address', 'visitor'] : ['visitor'];
  return [
    `local part = {${parts.join(',')}}`,
    'local visitor, address, next, count = {}, {}, 0, #part[1]',
    `for i = 0, ${visitors - 1} do visitor[i] = string.format("%0${visitorDigits}d", i) end`,
    `for i = 0, ${visitors - 1} do address[i] = visitor[i]:gsub("(..)(..)(..)", "${addressPattern.replaceAll('$', '%')}") end`,
    'math.randomseed(os.time())',
    'request = function()',
    '  next = next % count + 1',
    `  local who = math.random(0, ${visitors - 1})`,
    `  return part[1][next]${gaps.map((gap, at) => ` .. ${gap}[who] .. part[${at + 2}][next]`).join('')}`,
    'end',
    ...done,
  ].join('\n');
}

export const getScript = (paths: string[], token: string): string =>
  [
    `wrk.headers["Authorization"] = ${quoted(`Bearer ${token}`)}`,
    `local paths = {${paths.map(quoted).join(',')}}`,
    'local requests, next = {}, 0',
    'init = function() for i, path in ipairs(paths) do requests[i] = wrk.format("GET", path) end end',
    'request = function() next = next % #requests + 1 return requests[next] end',
    ...done,
  ].join('\n');
