"""Tensor2Tensor's commands and flags, and what to ask for here. The README's table is this one."""

COMMANDS = {
    "t2t-datagen": "heedful prepare PROBLEM",
    "t2t-trainer": "heedful train PROBLEM --preset PRESET --out RUN",
    "t2t-decoder": "heedful decode RUN",
    "t2t-eval": "heedful evaluate RUN",
    "t2t-bleu": "heedful score --hyp FILE --ref FILE",
    "t2t-avg-all": "heedful average RUN --last N",
}

FLAGS = {
    "--problem": "the problem is an argument: heedful train PROBLEM",
    "--model": "the model comes with the preset: --preset NAME",
    "--hparams_set": "--preset NAME",
    "--hparams": "--set FIELD=VALUE, once for each field",
    "--data_dir": "--data DIR",
    "--tmp_dir": "--data DIR",
    "--output_dir": "--out RUN for train; decode, evaluate and average take RUN as an argument",
    "--train_steps": "--steps N",
    "--eval_steps": "--set training.evaluate_examples=N",
    "--local_eval_frequency": "--set training.evaluate_every=N",
    "--keep_checkpoint_max": "--set training.keep_last=N",
    "--random_seed": "--seed N",
    "--worker_gpu": "torchrun --nproc-per-node N -m heedful train …",
    "--generate_data": "nothing: train prepares the data by itself",
    "--t2t_usr_dir": "--plugin MODULE",
    "--registry_help": "heedful list problems, heedful list models, heedful list presets",
    "--schedule": "a command each: heedful train, heedful evaluate, heedful decode",
    "--decode_from_file": "-i FILE",
    "--decode_to_file": "-o FILE",
    "--decode_interactive": "--interactive",
    "--decode_hparams": "--beam N, --alpha A and the other options of heedful decode",
    "--checkpoint_path": "--checkpoint step-N",
    "--translation": "--hyp FILE",
    "--reference": "--ref FILE",
}
