// Runs a script, also on a bare clone: `node scripts/run.mjs <name> [arguments]`. Imports nothing before the check and uses
// plain syntax, so that an old Node prints what it lacks.
const [major, minor] = process.versions.node.split('.').map(Number);

if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`Node 20.19 or newer is needed; this is ${process.versions.node}.`);
  process.exitCode = 1;
} else {
  run().catch((error) => {
    console.error(error);
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
  const { explain } = await import('./stack/advice.ts');
  await import(script.href).catch((error) => {
    console.error(explain(error));
    process.exitCode = 1;
  });
}
