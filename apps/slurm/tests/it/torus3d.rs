//! A file that `pavior slurm generate` writes, under the newest Slurm: others have no torus3d.

mod a_generated_file_places_each_size {
    use pavior_slurm::Config;
    use pavior_slurm::torus3d::{Anchors, Choice, Mix, generate};

    use crate::cluster::{Cluster, Options};
    use crate::release::Release;

    #[test]
    fn slurm_testing() {
        let machine = "grid:4wx2x2w";
        let toml =
            format!("machine = \"{machine}\"\nnodes = \"n{{:02}}\"\npartition = \"plain\"\n");
        let config = Config::parse(&toml).unwrap();
        let mix = Mix::read("1,2x1,3,2x2x1,4x1x1,2x2x2,12,16").unwrap();
        let choice = Choice { anchors: Anchors::Any, turn: true };
        let made = generate(&config, &mix, choice).unwrap();
        assert_eq!(made.cannot, []);
        // A partition of its own, which the gate lets alone.
        let plain = "PartitionName=plain Nodes=ALL OverSubscribe=EXCLUSIVE State=UP Topology=torus";
        let options =
            Options::default().machine("torus:4x2x2").conf(plain).file("topology.yaml", &made.yaml);
        let what = "a generated topology.yaml";
        let Some(cluster) = Cluster::start(what, Release::Testing, options) else { return };
        let shown = cluster.good("scontrol show topology | grep -c PlacementDims");
        let written = made.yaml.lines().filter(|line| line.contains("- dims")).count();
        assert_eq!(shown, written.to_string());
        for (demand, _) in mix.iter() {
            let job = format!("sbatch -p plain -N {} -t 1 --wait -o /dev/null", demand.nodes());
            cluster.good(&format!("timeout 60 {job} --wrap true"));
        }
        let output = cluster.shell("sbatch -p plain -N 5 -o /dev/null --wrap true", false);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains("topology"), "{said}");
    }
}
