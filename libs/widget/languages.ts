/**
 * The languages of the widget's texts. English is in its script; each other language is a file. All files of a release
 * share one hash, since dozens of hashes would make the script larger.
 */
export const packTags =
  'ar bg cs da de el es et fi fr ga he hr hu it ja lt lv mt nl no pl pt pt-BR ro sk sl sr sr-Latn sv tr uk zh-Hans';

// marked as pure, so that the bundler leaves them out of the widget's script
export const packs: string[] = /* @__PURE__ */ packTags.split(' ');
export const languages: string[] = /* @__PURE__ */ ['en'].concat(packs);

/** Other tags, in lower case, that pages and browsers use for these languages. */
export const aliases = {
  nb: 'no',
  nn: 'no',
  zh: 'zh-Hans',
  'zh-cn': 'zh-Hans',
  'zh-tw': 'zh-Hant',
  'zh-hk': 'zh-Hant',
  'zh-mo': 'zh-Hant',
};

/** Relative to the service's address. */
export const packPath = (hash: string, language: string): string => `/texts-${hash}/${language}.json`;
