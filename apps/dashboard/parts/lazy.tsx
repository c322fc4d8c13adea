/** Components whose code is loaded when they are first shown. */
import type { FunctionComponent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Button } from './button.tsx';
import { Skeleton } from './skeleton.tsx';

/**
 * `load` runs once for all components that are picked from its module. `shape`: the placeholder until it is loaded; null
 * for none.
 */
export function lazy<Module>(load: () => Promise<Module>) {
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

/** A browser does not retry a script that failed to load, so the button reloads the whole page. */
const NotLoaded = () => (
  <section class="card message" role="alert">
    <h2>This page could not be loaded</h2>
    <p>The service cannot be reached, or has been updated since you opened the dashboard.</p>
    <div class="actions">
      <Button text="Reload" kind="primary" onClick={() => location.reload()} />
    </div>
  </section>
);
