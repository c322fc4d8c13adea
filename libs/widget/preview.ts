/** What the dashboard and the page that shows the widget in a frame say to each other. */
import type { WidgetConfig } from './config.ts';
import type { Place } from './places.ts';

/** The page says that it listens. */
export const previewReady = 'assent-preview-ready';

/** What the page answers each time. */
export interface PreviewShown {
  /** pixels of the page that are above the widget */
  above: number;
}

/** Nothing in it is secret. */
export interface PreviewOrder {
  config: WidgetConfig;
  /** ours in its language: the page itself asks for nothing */
  texts: Record<string, string>;
  view: 'banner' | 'preferences';
  /** the sketched website behind the widget */
  isDark: boolean;
  /** where the visitor is, for settings with regions */
  place?: Place;
  /** whether their browser sends Global Privacy Control */
  hasSignal?: boolean;
}
