/** Instead of a page whose endpoints need a scope that the access token lacks. */
import type { Scope } from '#libs/base/terms/terms';

interface Props {
  what: string;
  scope: Scope;
  /** would do as well */
  orScope?: Scope | undefined;
}

export const NotAllowed = ({ what, scope, orScope }: Props) => (
  <section class="card message plan-notice">
    <h2>Your access token does not allow this page</h2>
    <p>
      {what} needs the scope <code>{scope}</code>
      {orScope && (
        <>
          {' '}
          or <code>{orScope}</code>
        </>
      )}
      , whatever the plan. Sign in with a token that has it; whoever issues your tokens can add it.
    </p>
  </section>
);
