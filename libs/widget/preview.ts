/** Messages between the dashboard and the page that previews the widget in a frame. */
import type { WidgetConfig } from './config.ts';
import type { Place } from './places.ts';

/** Sent by the page once it listens. */
export const previewReady = 'assent-preview-ready';

/** The page's reply to each order. */
export interface PreviewShown {
  /** pixels of the page that are above the widget */
  above: number;
}

/** Sent by the dashboard; contains no secrets. */
export interface PreviewRequest {
  config: WidgetConfig;
  /** the widget's texts in its language, since the page sends no requests */
  texts: Record<string, string>;
  view: 'banner' | 'preferences';
  /** of the sample website behind the widget */
  isDark: boolean;
  /** where the visitor is, for settings with regions */
  place?: Place;
  /** whether their browser sends Global Privacy Control */
  hasSignal?: boolean;
}
