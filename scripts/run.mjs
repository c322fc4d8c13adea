// The way into every script, on a bare clone too: `node scripts/run.mjs <name> [arguments]`.
// Nothing is imported before the check, and the syntax is plain, so that an old Node says what it lacks.
const [major, minor] = process.versions.node.split('.').map(Number);

if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`Node 20.19 or newer is needed; this is ${process.versions.node}.`);
  process.exitCode = 1;
} else {
  run().catch((error) => {
    // an option that a script does not know, too, is told in its own words
    const isAdvice = error.name === 'Advice' || error.code?.startsWith('ERR_PARSE_ARGS');
    console.error(isAdvice ? error.message : error);
    process.exitCode = 1;
  });
}

async function run() {
  const [node, , name, ...rest] = process.argv;
  const { existsSync } = await import('node:fs');
  const { fileURLToPath } = await import('node:url');
  const script = new URL(`./${name}.ts`, import.meta.url);
  if (!/^[a-z]+$/.test(name ?? '') || !existsSync(script)) {
    console.error(`There is no script "${name || ''}".`);
    process.exitCode = 1;
    return;
  }
  const { install } = await import('./install.mjs');
  await install();
  const { register } = await import('tsx/esm/api');
  register();
  process.argv = [node, fileURLToPath(script), ...rest];
  await import(script.href);
}
