/** Reads an object as people write it in a script, without running anything: JSON, with what JavaScript allows besides. */

/** The value that the text begins with. Throws a SyntaxError where it is no literal. */
export function readLiteral(source: string): unknown {
  let at = 0;
  const skip = () => {
    at += /^(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/.exec(source.slice(at))?.[0].length ?? 0;
  };
  const take = (pattern: RegExp): RegExpExecArray | null => {
    skip();
    const found = pattern.exec(source.slice(at));
    if (found) at += found[0].length;
    return found;
  };
  const fail = (): never => {
    throw new SyntaxError(`not a plain value: ${source.slice(at, at + 20)}`);
  };

  /** Items up to the closing bracket, with or without a comma after the last. */
  function list(end: RegExp, item: () => void): void {
    while (!take(end)) {
      item();
      if (!take(/^,/)) {
        if (!take(end)) fail();
        return;
      }
    }
  }
  function text(): string | undefined {
    const quoted = take(
      /^(?:"((?:[^"\\\n]|\\[\s\S])*)"|'((?:[^'\\\n]|\\[\s\S])*)'|`((?:[^`\\$]|\\[\s\S]|\$(?!\{))*)`)/,
    );
    if (!quoted) return undefined;
    const [, ...forms] = quoted;
    return (forms.find((each) => each !== undefined) ?? '').replace(escapes, unescaped);
  }
  function value(depth: number): unknown {
    if (depth > 8) return fail();
    if (take(/^\{/)) {
      const entries: [string, unknown][] = [];
      list(/^\}/, () => {
        const name = text() ?? take(/^[\p{ID_Start}$_][\p{ID_Continue}$]*|^\d+/u)?.[0] ?? fail();
        if (!take(/^:/)) fail();
        entries.push([name, value(depth + 1)]);
      });
      return Object.fromEntries(entries);
    }
    if (take(/^\[/)) {
      const items: unknown[] = [];
      list(/^\]/, () => items.push(value(depth + 1)));
      return items;
    }
    const string = text();
    if (string !== undefined) return string;
    const word = take(/^(?:true|false|null)\b/)?.[0];
    if (word) return word === 'null' ? null : word === 'true';
    const number = take(/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?/i)?.[0];
    return number ? Number(number) : fail();
  }
  return value(0);
}

const escapes = /\\(?:u\{([0-9a-f]{1,6})\}|u([0-9a-f]{4})|x([0-9a-f]{2})|(\r\n|[\s\S]))/gi;
const letters: Record<string, string> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f', v: '\v', '\n': '', '\r\n': '' };

function unescaped(_: string, point?: string, unit?: string, byte?: string, letter = ''): string {
  const code = Number.parseInt(point ?? unit ?? byte ?? '', 16);
  if (Number.isNaN(code)) return letters[letter] ?? letter;
  return code > 0x10ffff ? '' : point ? String.fromCodePoint(code) : String.fromCharCode(code);
}
