"""Shows a machine, why a request is refused, and a simulation. Needs only the package."""

from pavior import Machine, Refused, simulate

machine = Machine("torus:8x8x8", strategy="tff")
with machine.allocate((4, 4, 2), job="first") as held:
    print(f"{held.job} holds {held.nodes} nodes at {held.boxes[0].base}; {machine.free} are free")
    try:
        machine.allocate((8, 8, 8), job="second")
    except Refused as refused:
        print(f"second is refused: {refused}")
print(f"{machine.free} nodes are free again")

for strategy in ("ff", "tff", "gabl"):
    result = simulate("mesh:16x16", strategy, load=1.5, jobs=1000, timing=False)
    turnaround = result["turnaround"]
    print(f"{strategy}: a job takes {turnaround:.3f} {result.unit} from submission to departure")
