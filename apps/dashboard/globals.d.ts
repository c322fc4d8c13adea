/** The hash of the widget's texts in other languages than English, inserted by the build. */
declare const __TEXTS__: string;
