/** Shown instead of a blank page when rendering fails, such as on an answer of another release. */
export const Crash = () => (
  <main id="main">
    <section class="card error-card" role="alert">
      <h1>This page made a mistake</h1>
      <p>
        It met something that it does not know, perhaps another release of the service. Loading it again helps then.
      </p>
      <button type="button" class="button primary" onClick={() => location.reload()}>
        Load again
      </button>
    </section>
  </main>
);
