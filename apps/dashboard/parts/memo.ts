/** A component that renders again only when one of its props changes. Preact has one in `preact/compat` only. */
import { Component, type ComponentType, h } from 'preact';

export function memo<Props extends object>(inner: ComponentType<Props>): ComponentType<Props> {
  return class extends Component<Props> {
    override shouldComponentUpdate(next: Props): boolean {
      const names = new Set([...Object.keys(next), ...Object.keys(this.props)]);
      const [one, other] = [new Map(Object.entries(next)), new Map(Object.entries(this.props))];
      return [...names].some((name) => one.get(name) !== other.get(name));
    }
    override render() {
      return h(inner, this.props);
    }
  };
}
