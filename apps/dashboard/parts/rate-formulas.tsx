/** Explains how the rates of groups are computed. */
import type { ComponentChildren } from 'preact';

export const RateFormulas = ({ children }: { children?: ComponentChildren }) => (
  <details class="explain">
    <summary>How these figures are computed</summary>
    <p>
      <strong>Opt-in rate</strong> = opt-ins ÷ choices. A choice is made by a visitor, in the banner, in the preferences
      or by Global Privacy Control: accept all, reject all, or a selection. An opt-in is a choice that allows at least
      one category besides “necessary”.
    </p>
    <p>
      Withdrawals, and decisions made through the API or by an import, are counted as decisions and are part of no rate.
      Crawlers are left out.
    </p>
    <p>
      The same applies where visitors are not asked first (the models opt-out and none): what they reject, select or
      withdraw there is an <strong>objection</strong>.
    </p>
    {children}
  </details>
);
