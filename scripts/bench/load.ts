/** Load from a process of its own: wrk where it is installed, else autocannon. Both send the same bodies. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { root } from '../stack/paths.ts';
import { makeBody, userAgent } from './bodies.ts';

export interface Load {
  url: string;
  headers: Record<string, string>;
  connections: number;
  seconds: number;
}

export interface Measured {
  requestsPerSecond: number;
  /** answers other than 2xx, and requests without one */
  failed: number;
}

const bodyCount = 2_000;
const bodies = Array.from({ length: bodyCount }, (_, index) => makeBody(index));

export const loadTool = (): string => (spawnSync('wrk', ['-v']).error ? 'autocannon' : 'wrk');

export function runLoad(load: Load): Promise<Measured> {
  return loadTool() === 'wrk' ? runWrk(load) : runAutocannon(load);
}

async function runWrk({ url, headers, connections, seconds }: Load): Promise<Measured> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'assent-load-'));
  const script = path.join(folder, 'post.lua');
  const quoted = (text: string) => `[==[${text}]==]`;
  writeFileSync(
    script,
    [
      'wrk.method = "POST"',
      ...Object.entries({ 'content-type': 'application/json', 'user-agent': userAgent, ...headers }).map(
        ([name, value]) => `wrk.headers[ ${quoted(name)} ] = ${quoted(value)}`,
      ),
      `local bodies = {${bodies.map(quoted).join(',')}}`,
      'local requests, next = {}, 0',
      'init = function() for i, body in ipairs(bodies) do requests[i] = wrk.format(nil, nil, nil, body) end end',
      `request = function() next = next % ${bodyCount} + 1 return requests[next] end`,
      'done = function(summary)',
      '  local e = summary.errors',
      '  local failed = e.connect + e.read + e.write + e.status + e.timeout',
      '  io.write(string.format("RESULT %f %d\\n", summary.requests / summary.duration * 1e6, failed))',
      'end',
    ].join('\n'),
  );
  try {
    const output = await collect('wrk', ['-t1', `-c${connections}`, `-d${seconds}s`, '-s', script, url]);
    const [, rate = '', failed = ''] = /RESULT ([\d.]+) (\d+)/.exec(output) ?? [];
    return { requestsPerSecond: Number(rate), failed: Number(failed) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runAutocannon(load: Load): Promise<Measured> {
  const file = path.join(root, 'scripts/bench/autocannon.ts');
  const output = await collect(process.execPath, ['--import', 'tsx', file, JSON.stringify(load)]);
  return JSON.parse(output) as Measured;
}

function collect(command: string, args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    child.on('error', reject);
    child.on('exit', (code) => (code === 0 ? resolve(output) : reject(new Error(`${command} ended with ${code}`))));
  });
}
