// Brings node_modules up to package-lock.json. Plain JavaScript, since it runs before TypeScript can.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, lstatSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { waitForLock } from './lock.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const lockFile = path.join(root, 'package-lock.json');
const modules = path.join(root, 'node_modules');
const stamp = path.join(modules, '.assent-lock');

export async function install() {
  if (isInstalled()) return;
  const dataRoot = path.join(root, '.data');
  mkdirSync(dataRoot, { recursive: true, mode: 0o711 });
  const say = () => console.log('another run is installing packages: waiting for it');
  const release = await waitForLock(path.join(dataRoot, 'install-lock'), { say });
  try {
    // the process that had the lock may have installed them
    if (!isInstalled()) await installNow();
  } finally {
    release();
  }
}

function isInstalled() {
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lockHash()) return true;
  // installed by hand: npm writes a lock file of what it installed
  const installed = path.join(modules, '.package-lock.json');
  if (!existsSync(installed) || statSync(installed).mtimeMs < statSync(lockFile).mtimeMs) return false;
  writeFileSync(stamp, lockHash());
  return true;
}

function lockHash() {
  return createHash('sha256').update(readFileSync(lockFile)).digest('hex');
}

async function installNow() {
  // npm would empty the folder that the link points to
  if (lstatSync(modules, { throwIfNoEntry: false })?.isSymbolicLink()) {
    throw new Error(`${modules} is a link, and its packages are not those of this checkout: remove the link.`);
  }
  const start = performance.now();
  console.log('installing packages (once) …');
  // with development packages even if NODE_ENV is production: tsx and the compiler are among them
  let result = await npm(['ci', '--include=dev']);
  if (result.code !== 0 && /EUSAGE|in sync/.test(result.output)) {
    // if a registry lacks a platform's optional package, npm ci refuses a lock file that npm install accepts
    const reason = /(Missing|Invalid): .*/.exec(result.output)?.[0] ?? 'it is not in sync with package.json';
    console.log(`npm ci refuses the lock file (${reason}): using npm install`);
    result = await npm(['install', '--no-save', '--include=dev']);
  }
  if (result.code !== 0) throw new Error(`npm could not install the packages:\n${result.output}`);
  writeFileSync(stamp, lockHash());
  console.log(`packages installed in ${((performance.now() - start) / 1000).toFixed(1)} s`);
}

async function npm(args) {
  const child = spawn('npm', [...args, '--no-audit', '--no-fund'], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  // a Ctrl-C in the terminal reaches npm, other signals only reach us
  const end = () => {
    child.kill();
    process.exit(1);
  };
  process.once('SIGTERM', end);
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  process.removeListener('SIGTERM', end);
  return { code, output: stdout + stderr };
}
