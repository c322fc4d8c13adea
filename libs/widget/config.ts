/** The settings of a website: attributes of the widget's tag, and members of `window.assentConfig` with the same names. */

/** Google Consent Mode v2: the consent types that each category grants. */
export type ConsentTypes = Record<string, string | string[]>;

/** Texts for all languages; under a language tag, those for that language only. */
export type OwnTexts = { [name: string]: string | OwnTexts };

export interface Category {
  id: string;
  /** always on without consent */
  required?: boolean;
  label?: string;
  description?: string;
  /** allowed with the category, which the visitor chooses as a whole */
  services?: Service[];
}

export interface Service {
  name: string;
  provider?: string;
  /** ISO 3166-1 alpha-2, or its name */
  country?: string;
  purpose?: string;
  policyUrl?: string;
  cookies?: Cookie[];
}

export interface Cookie {
  /** a trailing `*` matches any ending; `*` alone is refused */
  name: string;
  domain?: string;
  path?: string;
  /** for people, such as `2 years` */
  duration?: string;
}

/**
 * Lists and objects are possible in `window.assentConfig` only, but `texts` and `colors` also singly: `data-color-button`.
 */
export interface WidgetConfig {
  domain?: string;
  key?: string;
  api?: string;
  lang?: string;
  dir?: 'ltr' | 'rtl';
  theme?: 'auto' | 'light' | 'dark';
  /** of the first view */
  position?: 'bottom' | 'left' | 'right' | 'center';
  button?: 'left' | 'right' | 'none';
  policyUrl?: string;
  policyVersion?: string | number;
  bannerVersion?: string | number;
  cookieDomain?: string;
  maxAgeMonths?: number | string;
  categories?: string | (string | Category)[];
  /** named as the one who asks */
  company?: string;
  texts?: OwnTexts;
  colors?: Record<string, string>;
  /** replace `colors` in the dark banner */
  darkColors?: Record<string, string>;
  /** of corners, as a length */
  radius?: string;
  links?: { label: string; href: string }[];
  consentMode?: ConsentTypes | boolean | string;
  metadata?: Record<string, string | number | boolean>;
  /** reports to the service that the banner was shown; an attribute without a value turns this on */
  displays?: string | boolean;
  experiment?: Experiment;
  /** the first rule that matches the visitor's place applies */
  regions?: Region[];
  /** the name of Tag Manager's data layer */
  layer?: string;
  /** Microsoft's consent signals */
  signals?: { uet?: boolean; clarity?: boolean };
  /** reloads the page after consent has been withdrawn */
  reload?: string | boolean;
}

/** The rule for some places. */
export interface Region {
  /** ISO 3166-1 countries, ISO 3166-2 subdivisions, `EU` and `EEA`; `*`: every other known place */
  in: string[] | '*';
  model: Model;
  /** categories that run until the visitor objects */
  on?: string[];
  maxAgeMonths?: number | string;
}

/** `opt_in`: visitors are asked first. `opt_out`: everything runs until they object, and a notice says so. `none`: no notice. */
export type Model = 'opt_in' | 'opt_out' | 'none';

/** An A/B test. Its variants change how the banner looks and reads, never what it asks for. */
export interface Experiment {
  id: string;
  variants: {
    name: string;
    /** relative to the others; default: 1 */
    share?: number;
    settings?: Pick<WidgetConfig, 'texts' | 'colors' | 'darkColors' | 'theme' | 'position' | 'button' | 'radius'>;
  }[];
}
