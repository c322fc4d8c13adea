/** Words that a colleague would not say, in comments and names. A limit may only be lowered. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');
const own = path.relative(root, import.meta.filename);
const files = ['apps', 'libs', 'scripts', 'test']
  .flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
  )
  .filter((file) => /\.(tsx?|mjs|css|lua)$/.test(file) && file !== own);

const comment = /\/\*[\s\S]*?\*\/|(?<![^\s;{}(),])(?:\/\/|--)[^\n]*/g;
const literal = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g;

/** The words of comments, and those that identifiers and the file's name are made of, in lower case. */
function wordsOf(file: string): { comments: string; names: string[] } {
  const text = readFileSync(path.join(root, file), 'utf8');
  const code = text.replace(comment, ' ').replace(literal, ' ');
  const names = [path.basename(file), ...(code.match(/[A-Za-z]+/g) ?? [])]
    .flatMap((name) => name.split(/[^A-Za-z]+|(?<=[a-z])(?=[A-Z])/))
    .map((word) => word.toLowerCase());
  return { comments: (text.match(comment) ?? []).join('\n').replace(/\n\s*(?:\*|\/\/|--)?\s*/g, ' '), names };
}

const texts = files.map(wordsOf);
const count = (words: RegExp) => {
  const whole = new RegExp(`^(?:${words.source})$`);
  const inComments = texts.map(
    ({ comments }) => comments.match(new RegExp(`\\b(?:${words.source})\\b`, 'gi'))?.length ?? 0,
  );
  const inNames = texts.map(({ names }) => names.filter((name) => whole.test(name)).length);
  return [...inComments, ...inNames].reduce((sum, each) => sum + each, 0);
};

it.each([
  { words: /whoever|whatever/, limit: 29 },
  { words: /tells?|telling|told/, limit: 200 },
  { words: /anew|for ever|in step/, limit: 11 },
  { words: /answer(?:s|ed|ing)?/, limit: 906 },
])('$words is said at most $limit times', ({ words, limit }) => {
  expect(count(words)).toBeLessThanOrEqual(limit);
});
