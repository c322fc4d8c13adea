/** The order of the files: none that takes long begins last, when the other workers have nothing left to do. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The first that matches decides. */
const order = [/e2e\/image/, /browser\//, /e2e\//, /integration\//];

const rank = ({ moduleId }: TestSpecification): number => {
  const found = order.findIndex((pattern) => pattern.test(moduleId));
  return found === -1 ? order.length : found;
};

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}
