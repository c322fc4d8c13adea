/** Compares two notices word by word. */

export interface Part {
  text: string;
  is: 'same' | 'added' | 'removed';
}

/**
 * `place`: the path to a text in the document, such as `settings › categories › maps › label`. `same`: the number of equal
 * texts. Version and category ids do not count as texts, since visitors do not see them.
 */
export function differenceOf(
  before: object,
  after: object,
): { changed: { place: string; parts: Part[] }[]; same: number } {
  const [was, is] = [textsOf(before), textsOf(after)];
  const places = [...new Set([...is.keys(), ...was.keys()])].filter((place) => !/(^version|› id)$/.test(place));
  const changed = places
    .filter((place) => was.get(place) !== is.get(place))
    .map((place) => ({ place, parts: compareTexts(was.get(place) ?? '', is.get(place) ?? '') }));
  return { changed, same: places.length - changed.length };
}

/** Texts by place, in the document's order. */
function textsOf(value: unknown, place = '', into = new Map<string, string>()): Map<string, string> {
  if (typeof value !== 'object' || value === null) {
    if (value !== null && value !== '') into.set(place, String(value));
    return into;
  }
  const seen = new Set<unknown>();
  for (const [key, each] of Object.entries(value)) {
    // a category is identified by its id, so that an inserted one does not shift the others
    const id = Array.isArray(value) ? (each?.id ?? Number(key) + 1) : key;
    textsOf(each, `${place && `${place} › `}${seen.has(id) ? `${id} ${key}` : id}`, into);
    seen.add(id);
  }
  return into;
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });

/** Words with the space before them. */
function wordsOf(text: string): string[] {
  const words: string[] = [];
  let space = '';
  for (const { segment } of segmenter.segment(text)) {
    const isSpace = segment.trim() === '';
    if (!isSpace) words.push(space + segment);
    space = isSpace ? space + segment : '';
  }
  return space ? [...words, space] : words;
}

export const compareTexts = (before: string, after: string): Part[] => compareWords(wordsOf(before), wordsOf(after));

/** Limit of compared pairs of words; a longer text counts as replaced. */
const mostPairs = 250_000;

/** Finds the longest common run of words, then the same before and after it. */
function compareWords(was: string[], is: string[]): Part[] {
  // end of the common run in both texts
  let [length, start, end] = [0, 0, 0];
  let runs: number[] = [];
  for (const [at, word] of was.length * is.length > mostPairs ? [] : was.entries()) {
    const longer: number[] = [];
    for (let other = is.indexOf(word); other >= 0; other = is.indexOf(word, other + 1)) {
      const run = (runs[other - 1] ?? 0) + 1;
      longer[other] = run;
      if (run > length) [length, start, end] = [run, at + 1, other + 1];
    }
    runs = longer;
  }
  const part = (words: string[], kind: Part['is']): Part[] =>
    words.length > 0 ? [{ text: words.join(''), is: kind }] : [];
  if (length === 0) return [...part(was, 'removed'), ...part(is, 'added')];
  return [
    ...compareWords(was.slice(0, start - length), is.slice(0, end - length)),
    ...part(is.slice(end - length, end), 'same'),
    ...compareWords(was.slice(start), is.slice(end)),
  ];
}
