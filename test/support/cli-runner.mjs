// The command line in a process that runs one command after the other: loading it takes longer than most commands run.
// Each message is a command, with its settings and folder; the answer is what it wrote, and its exit code.
import { pathToFileURL } from 'node:url';

const [, , main = ''] = process.argv;
const exit = process.exit.bind(process);
const ended = new Error('the command has ended');
let commands = Promise.resolve();
let count = 0;

process.on('disconnect', () => exit());
process.stdout.setMaxListeners(0);
process.on('message', (command) => {
  commands = commands.then(() => run(command));
});

async function run({ id, args, env, cwd }) {
  const written = { stdout: [], stderr: [] };
  let code;
  for (const name of Object.keys(written))
    process[name].write = (chunk, ...rest) => {
      if (code === undefined) written[name].push(Buffer.from(chunk));
      const done = rest.at(-1);
      if (typeof done === 'function') process.nextTick(done);
      return true;
    };
  // what comes after it in a process of its own would not run
  process.exit = (given = process.exitCode ?? 0) => {
    code ??= Number(given);
    throw ended;
  };
  process.exitCode = undefined;
  process.argv = [process.execPath, main, ...args];
  process.chdir(cwd);
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  count += 1;
  await import(`${pathToFileURL(main)}?${count}`).catch((error) => {
    if (error !== ended) written.stderr.push(Buffer.from(String(error)));
  });
  const text = (name) => Buffer.concat(written[name]).toString();
  process.send({ id, code: code ?? 1, stdout: text('stdout'), stderr: text('stderr') });
}
