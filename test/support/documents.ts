/** The project's documents, and the fenced blocks in them. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { root } from '../../scripts/stack/paths.ts';

export interface Block {
  page: string;
  language: string;
  text: string;
}

const below = (folder: string): string[] =>
  readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => path.join(folder, file))
    .sort();

/** From the checkout's root. */
export const pages = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', ...below('docs')];

export const readPage = (page: string): string => readFileSync(path.join(root, page), 'utf8');

export const blocksOf = (page: string): Block[] => blocksIn(page, readPage(page));

/** In `markdown`, which is of that page. */
export const blocksIn = (page: string, markdown: string): Block[] =>
  [...markdown.matchAll(/^ *```(.*)\n([\s\S]*?)^ *```$/gm)].map(([, language = '', text = '']) => ({
    page,
    language,
    text,
  }));

export const blocks = (...languages: string[]): Block[] =>
  pages.flatMap(blocksOf).filter(({ language }) => languages.includes(language));

/** What is between a heading and the next one of its level or above. */
export function sectionOf(page: string, heading: string): string {
  const text = readPage(page);
  const start = text.indexOf(`\n${heading}\n`);
  if (start === -1) throw new Error(`${page} has no "${heading}"`);
  const level = heading.indexOf(' ');
  const rest = text.slice(start + heading.length + 1);
  const end = rest.search(new RegExp(`^#{1,${level}} `, 'm'));
  return end === -1 ? rest : rest.slice(0, end);
}
