/**
 * The languages that the widget has texts in. English is in its script; each other one is a file below one hash, which
 * stands for the texts of a release in all of them: dozens of hashes would make the script larger.
 */
export const packTags =
  'ar bg cs da de el es et fi fr ga he hr hu it ja lt lv mt nl no pl pt pt-BR ro sk sl sr sr-Latn sv tr uk zh-Hans';

// pure, so that the widget's script does without
export const packs: string[] = /* @__PURE__ */ packTags.split(' ');
export const languages: string[] = /* @__PURE__ */ ['en'].concat(packs);

/** In lower case: what else texts go by, for what a page or a browser may call their language. */
export const aliases = {
  nb: 'no',
  nn: 'no',
  zh: 'zh-Hans',
  'zh-cn': 'zh-Hans',
  'zh-tw': 'zh-Hant',
  'zh-hk': 'zh-Hant',
  'zh-mo': 'zh-Hant',
};

/** Below the service's address. */
export const packPath = (hash: string, language: string): string => `/texts-${hash}/${language}.json`;
