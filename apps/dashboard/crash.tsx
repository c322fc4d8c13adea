/** Shown instead of a blank page when rendering fails, for example when a response comes from another release. */
export const Crash = () => (
  <main id="main">
    <section class="card message" role="alert">
      <h1>Something went wrong</h1>
      <p>The service sent an answer that this page cannot display. Reloading usually helps.</p>
      <button type="button" class="button primary" onClick={() => location.reload()}>
        Reload
      </button>
    </section>
  </main>
);
