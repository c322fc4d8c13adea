/** Colours that a banner can have. */
export const colourNames = ['background', 'text', 'muted', 'line', 'button', 'buttonText', 'focus'] as const;
export type ColourName = (typeof colourNames)[number];

/** All colour names of CSS: any other word would leave the banner without a background. */
const words: ReadonlySet<string> = new Set(
  (
    'aliceblue antiquewhite aqua aquamarine azure beige bisque black blanchedalmond blue blueviolet brown ' +
    'burlywood cadetblue chartreuse chocolate coral cornflowerblue cornsilk crimson cyan darkblue darkcyan ' +
    'darkgoldenrod darkgray darkgreen darkgrey darkkhaki darkmagenta darkolivegreen darkorange darkorchid darkred ' +
    'darksalmon darkseagreen darkslateblue darkslategray darkslategrey darkturquoise darkviolet deeppink ' +
    'deepskyblue dimgray dimgrey dodgerblue firebrick floralwhite forestgreen fuchsia gainsboro ghostwhite gold ' +
    'goldenrod gray green greenyellow grey honeydew hotpink indianred indigo ivory khaki lavender lavenderblush ' +
    'lawngreen lemonchiffon lightblue lightcoral lightcyan lightgoldenrodyellow lightgray lightgreen lightgrey ' +
    'lightpink lightsalmon lightseagreen lightskyblue lightslategray lightslategrey lightsteelblue lightyellow ' +
    'lime limegreen linen magenta maroon mediumaquamarine mediumblue mediumorchid mediumpurple mediumseagreen ' +
    'mediumslateblue mediumspringgreen mediumturquoise mediumvioletred midnightblue mintcream mistyrose moccasin ' +
    'navajowhite navy oldlace olive olivedrab orange orangered orchid palegoldenrod palegreen paleturquoise ' +
    'palevioletred papayawhip peachpuff peru pink plum powderblue purple rebeccapurple red rosybrown royalblue ' +
    'saddlebrown salmon sandybrown seagreen seashell sienna silver skyblue slateblue slategray slategrey snow ' +
    'springgreen steelblue tan teal thistle tomato turquoise violet wheat white whitesmoke yellow yellowgreen ' +
    // system colours
    'accentcolor accentcolortext activetext buttonborder buttonface buttontext canvas canvastext field fieldtext ' +
    'graytext highlight highlighttext linktext mark marktext selecteditem selecteditemtext visitedtext'
  ).split(' '),
);
/** `currentcolor` is the colour of the text, which may be transparent. */
const seeThrough: ReadonlySet<string> = new Set(['transparent', 'currentcolor']);

const number = '(?:[+-]?(?:\\d+(?:\\.\\d*)?|\\.\\d+)(?:%|deg|rad|grad|turn)?|none)';
const parts = (separator: string, beforeAlpha: string): string =>
  `\\(\\s*${number}(?:${separator}${number}){2}(?:\\s*${beforeAlpha}\\s*${number})?\\s*\\)`;
const channels = new RegExp(
  `^(?:(?:rgb|hsl)a?${parts('\\s*,\\s*', ',')}|(?:rgba?|hsla?|hwb|lab|lch|oklab|oklch)${parts('\\s+', '/')})$`,
);
const hex = /^#(?:[0-9a-f]{3}([0-9a-f])?|[0-9a-f]{6}([0-9a-f]{2})?)$/;
const longest = 100;

export function isColour(value: string): boolean {
  const text = value.toLowerCase();
  if (text.length > longest) return false;
  return hex.test(text) || words.has(text) || seeThrough.has(text) || channels.test(text);
}

/** `value`: a colour, as checked by `isColour`. */
export function isOpaque(value: string): boolean {
  const text = value.toLowerCase();
  const [, short = 'f', long = 'ff'] = hex.exec(text) ?? [];
  const [, alpha = '1'] = /(?:\/|,[^,]*,[^,]*,)\s*([^\s)]+)\s*\)$/.exec(text) ?? [];
  return (
    !seeThrough.has(text) &&
    short === 'f' &&
    long === 'ff' &&
    Number.parseFloat(alpha) >= (alpha.endsWith('%') ? 100 : 1)
  );
}
