/** An operator who ends a log and begins the next one, while receivers follow both. */
import { type Activity, need, type Scene } from '../scene.ts';

export function restartLogs(scene: Scene): Activity {
  let [restarted, tries] = [0, 0];
  return {
    pause: 20_000,
    work: async () => {
      const { domainId } = need(scene.sites[tries++ % scene.sites.length]);
      // a store may be away, or the domain has no log yet
      await scene.assent('log', 'restart', domainId, '--yes').then(
        () => {
          restarted += 1;
        },
        () => {},
      );
    },
    check: () => {
      scene.expect(restarted > 0, 'no log was restarted');
      console.log(`${restarted} of ${tries} times a log was restarted`);
    },
  };
}
