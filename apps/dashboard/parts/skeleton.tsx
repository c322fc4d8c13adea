import './skeleton.css';
/** The outline of a page while it loads, so that no zero is mistaken for a figure. */
export const Skeleton = ({ isSlow = false, kind }: { isSlow?: boolean; kind: 'page' | 'table' }) => (
  <div class="stack skeleton" aria-busy="true">
    <p class={isSlow ? 'notice slow-note' : 'hidden'} role="status">
      {isSlow ? 'Still loading. The service is slower than usual.' : 'Loading'}
    </p>
    {kind === 'page' && (
      <div class="figures-row" aria-hidden="true">
        {[1, 2, 3, 4].map((index) => (
          <div key={index} class="card upright figure">
            <span class="bone bone-short" />
            <span class="bone bone-big" />
            <span class="bone" />
          </div>
        ))}
      </div>
    )}
    {kind === 'page' && (
      <div class="card" aria-hidden="true">
        <span class="bone bone-short" />
        <span class="bone bone-chart" />
      </div>
    )}
    <div class="card" aria-hidden="true">
      {[1, 2, 3, 4, 5, 6].map((index) => (
        <span key={index} class="bone bone-row" />
      ))}
    </div>
  </div>
);
