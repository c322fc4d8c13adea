export const NotAllowed = () => (
  <section class="card message plan-notice">
    <h2>Your access token does not allow this page</h2>
    <p>
      Reading and erasing one visitor needs the scope <code>privacy</code>, whatever the plan. Sign in with a token that
      has it; whoever issues your tokens can add it.
    </p>
  </section>
);
