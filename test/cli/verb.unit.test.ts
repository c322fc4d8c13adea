/** Verbs: what a schema's fields are as flags, and what a verb is handed. */
import { Command } from 'commander';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { flags, verbsOf } from '#libs/base/cli/verb';

const body = z.object({
  name: z.string().min(1).max(5).optional().meta({ description: 'its name' }),
  maxBytes: z.int().min(2).max(9).optional(),
  types: z
    .array(z.enum(['a', 'b']))
    .min(1)
    .optional()
    .meta({ description: 'repeatable' }),
  domains: z.array(z.string()).nullable().optional(),
  archivedAt: z.null().optional(),
  headers: z.record(z.string(), z.string()).optional(),
});

function createNoun(of: z.ZodObject = body) {
  const noun = new Command('thing').exitOverride().configureOutput({ writeErr: () => {} });
  const handed: unknown[] = [];
  const given = flags(of, {}, { '--all-domains': ['of all', { domains: null }] });
  const verb = verbsOf(noun)('set <thing> [other]', given, (...args) => void handed.push(args)).exitOverride();
  const run = async (...args: string[]) => {
    await noun.parseAsync(['set', ...args], { from: 'user' });
    return handed.at(-1);
  };
  return { verb, run };
}

it('a field of the contract is a flag of the command, with its description; what is no text has none', async () => {
  const { verb } = createNoun(
    body.extend({ added: z.string().optional().meta({ description: 'new in the contract' }) }),
  );
  expect(verb.options.map(({ flags, description }) => [flags, description])).toEqual([
    ['--name <name>', 'its name'],
    ['--max-bytes <n>', ''],
    ['--type <type>', 'repeatable'],
    ['--added <added>', 'new in the contract'],
    ['--all-domains', 'of all'],
  ]);
});

it('a verb is handed the fields that are given, as the schema reads them, and its arguments', async () => {
  const { run } = createNoun();
  const given = ['x', '--name', 'Ann', '--max-bytes', '9', '--type', 'b', '--type', 'a', '--all-domains'];
  expect(await run(...given)).toEqual([{ name: 'Ann', maxBytes: 9, types: ['b', 'a'], domains: null }, 'x']);
  expect(await createNoun().run('x', 'y')).toEqual([{}, 'x', 'y']);
});

it.each([
  [['--max-bytes', '1'], /--max-bytes.* must be a whole number from 2 to 9/],
  [['--name', 'too long'], /--name.* must be at most 5 characters/],
  [['--type', 'c'], /--type.* must be one of a, b/],
  [['--archived-at', 'x'], /unknown option '--archived-at'/],
])('%j is refused by the rule of its field', async (args, says) => {
  await expect(createNoun().run('x', ...args)).rejects.toThrow(says);
});

it('rules between fields name flags, and two flags of one field are refused', async () => {
  const range = z
    .object({ from: z.string(), to: z.string(), domains: z.array(z.string()).nullable().optional() })
    .refine(({ from, to }) => from <= to, { path: ['from'], message: 'must not be after `to`' });
  const told = { domains: ['--domain <domain>', ''] } satisfies { domains: [string, string] };
  const noun = new Command('thing').exitOverride();
  verbsOf(noun)('show', flags(range, told, { '--all-domains': ['', { domains: null }] }), () => undefined);
  const run = (...args: string[]) => noun.parseAsync(['show', '--from', '2', ...args], { from: 'user' });
  await expect(run('--to', '1')).rejects.toThrow('--from must not be after --to');
  await expect(run('--to', '3', '--domain', 'a', '--all-domains')).rejects.toThrow(
    'give either --domain or --all-domains',
  );
});
