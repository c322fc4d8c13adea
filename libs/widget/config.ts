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
  texts?: OwnTexts;
  colors?: Record<string, string>;
  links?: { label: string; href: string }[];
  consentMode?: ConsentTypes | boolean | string;
  metadata?: Record<string, string | number | boolean>;
  /** an attribute without a value, too */
  displays?: string | boolean;
  experiment?: Experiment;
}

/** An A/B test. Its variants say how the banner looks and reads, never what is asked for. */
export interface Experiment {
  id: string;
  variants: {
    name: string;
    /** relative to the others; default: 1 */
    share?: number;
    settings?: Pick<WidgetConfig, 'texts' | 'colors' | 'theme' | 'position' | 'button'>;
  }[];
}
