/** The order of the files: first those that need no servers, which are starting; then the slowest kinds, the largest first. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The first that matches decides. */
const order = [/\.unit\.test/, /rehearsals\//, /browser\//];

const rank = ({ moduleId }: TestSpecification): number => {
  const found = order.findIndex((pattern) => pattern.test(moduleId));
  return found === -1 ? order.length : found;
};

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}
