/** What websites give the widget: attributes of its tag, and `window.assentConfig`, which is named like them. */

/** Google Consent Mode v2: the consent types that each category grants. */
export type ConsentTypes = Record<string, string | string[]>;

/** Texts for all languages, and under a language tag those for that language only. */
export type OwnTexts = { [name: string]: string | OwnTexts };

export interface Category {
  id: string;
  /** always on, so the visitor is not asked */
  required?: boolean;
  label?: string;
  description?: string;
  /** what is allowed with it; the visitor chooses the category as a whole */
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

/** The last ones are possible in `window.assentConfig` only. */
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
  /** who asks */
  company?: string;
  texts?: OwnTexts;
  colors?: Record<string, string>;
  /** instead of those in the dark banner */
  darkColors?: Record<string, string>;
  /** of corners, as a length */
  radius?: string;
  links?: { label: string; href: string }[];
  consentMode?: ConsentTypes | boolean | string;
  metadata?: Record<string, string | number | boolean>;
  /** an attribute without a value, too */
  displays?: string | boolean;
  experiment?: Experiment;
  /** the first that matches says what is asked where */
  regions?: Region[];
  /** the name of Tag Manager's data layer */
  layer?: string;
  /** Microsoft's consent signals */
  signals?: { uet?: boolean; clarity?: boolean };
  /** loads the page again once something that was allowed is not any longer */
  reload?: string | boolean;
}

/** What holds in some places. */
export interface Region {
  /** ISO 3166-1 countries, ISO 3166-2 subdivisions, `EU` and `EEA`; `*`: every other place that is known */
  in: string[] | '*';
  model: Model;
  /** categories that run until the visitor objects */
  on?: string[];
  maxAgeMonths?: number | string;
}

/** `opt_in`: asked first. `opt_out`: everything runs until the visitor objects, which a notice says. `none`: without one. */
export type Model = 'opt_in' | 'opt_out' | 'none';

/** An A/B test. Its variants say how the banner looks and reads, never what is asked for. */
export interface Experiment {
  id: string;
  variants: {
    name: string;
    /** relative to the others; default: 1 */
    share?: number;
    settings?: Pick<WidgetConfig, 'texts' | 'colors' | 'darkColors' | 'theme' | 'position' | 'button' | 'radius'>;
  }[];
}
