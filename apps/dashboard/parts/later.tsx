/** Pages, and parts of them, whose code is loaded when one is first opened. */
import type { FunctionComponent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Button } from './button.tsx';
import { Skeleton } from './skeleton.tsx';

/**
 * `load` has all that is picked of it once it has been loaded for one of them. `shape`: of what stands there until then;
 * null for nothing.
 */
export function later<Module>(load: () => Promise<Module>) {
  let loaded: Module | undefined;
  return <Props extends object>(
    pick: (module: Module) => FunctionComponent<Props>,
    shape: 'page' | 'table' | null = 'page',
  ): FunctionComponent<Props> =>
    (props: Props) => {
      const [hasFailed, setFailed] = useState(false);
      const [isLoaded, setLoaded] = useState(loaded !== undefined);
      useEffect(() => {
        if (isLoaded) return;
        load().then(
          (module) => {
            loaded = module;
            setLoaded(true);
          },
          () => setFailed(true),
        );
      }, []);
      if (hasFailed) return <NotLoaded />;
      const Page = loaded && pick(loaded);
      if (Page) return <Page {...props} />;
      return shape && <Skeleton kind={shape} isSlow={false} />;
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
