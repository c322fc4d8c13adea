/** A page, or a part of one, whose code is loaded when it is first opened. */
import type { FunctionComponent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Button } from './button.tsx';
import { Skeleton } from './skeleton.tsx';

export function later<Props extends object>(
  load: () => Promise<FunctionComponent<Props>>,
  shape: 'page' | 'table' = 'page',
): FunctionComponent<Props> {
  let loaded: FunctionComponent<Props> | undefined;
  return (props: Props) => {
    const [state, setState] = useState<'loading' | 'loaded' | 'failed'>(loaded ? 'loaded' : 'loading');
    useEffect(() => {
      if (loaded) return;
      load().then(
        (page) => {
          loaded = page;
          setState('loaded');
        },
        () => setState('failed'),
      );
    }, []);
    if (state === 'failed') return <NotLoaded />;
    const Page = loaded;
    return Page ? <Page {...props} /> : <Skeleton kind={shape} isSlow={false} />;
  };
}

/** A browser does not ask for a script again that it could not load, so the whole page is loaded anew. */
const NotLoaded = () => (
  <section class="card message" role="alert">
    <h2>This page could not be loaded</h2>
    <p>The service cannot be reached, or has been updated since you opened the dashboard.</p>
    <div class="actions">
      <Button text="Reload" kind="primary" onClick={() => location.reload()} />
    </div>
  </section>
);
