/** What differs between two notices, word by word. */

export interface Part {
  text: string;
  is: 'same' | 'added' | 'removed';
}

/**
 * `place`: the names that lead to a text in the document, such as `settings › categories › maps › label`. `same`: how many
 * texts are in both. The version, and ids of categories, are no texts that a visitor sees.
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

/** By place, in the document's order. */
function textsOf(value: unknown, place = '', into = new Map<string, string>()): Map<string, string> {
  if (typeof value !== 'object' || value === null) {
    if (value !== null && value !== '') into.set(place, String(value));
    return into;
  }
  const seen = new Set<unknown>();
  for (const [key, each] of Object.entries(value)) {
    // a category keeps its name where another one comes before it
    const id = Array.isArray(value) ? (each?.id ?? Number(key) + 1) : key;
    textsOf(each, `${place && `${place} › `}${seen.has(id) ? `${id} ${key}` : id}`, into);
    seen.add(id);
  }
  return into;
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });

/** Each with the space before it. */
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

/** Pairs of words that are compared; a longer text is replaced as a whole. */
const mostPairs = 4_000_000;

/** Along the longest sequence of words that both have. */
export function compareTexts(before: string, after: string): Part[] {
  const [was, is] = [wordsOf(before), wordsOf(after)];
  const width = is.length + 1;
  const pairs = (was.length + 1) * width;
  /** how many words both have from here on; none where there are too many to compare */
  const common = new Uint16Array(pairs > mostPairs ? 0 : pairs);
  const from = (one: number, other: number) => common[one * width + other] ?? 0;
  for (let at = common.length - 1; at >= 0; at -= 1) {
    const [one, other] = [Math.floor(at / width), at % width];
    const isPair = one < was.length && other < is.length;
    if (isPair && was[one] === is[other]) common[at] = from(one + 1, other + 1) + 1;
    else if (isPair) common[at] = Math.max(from(one + 1, other), from(one, other + 1));
  }
  const parts: Part[] = [];
  const put = (text = '', kind: Part['is']) => {
    const last = parts.at(-1);
    if (last?.is === kind) last.text += text;
    else parts.push({ text, is: kind });
  };
  let [one, other] = [0, 0];
  while (one < was.length || other < is.length) {
    const isLast = other === is.length;
    if (pairs <= mostPairs && was[one] === is[other]) {
      put(was[one], 'same');
      [one, other] = [one + 1, other + 1];
    } else if (one < was.length && (isLast || from(one + 1, other) >= from(one, other + 1))) {
      put(was[one], 'removed');
      one += 1;
    } else {
      put(is[other], 'added');
      other += 1;
    }
  }
  return parts;
}
